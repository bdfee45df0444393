// SPDX-License-Identifier: Apache-2.0
// SchedstatProbe sums up the kernel's statistics of each thread (/proc/<tid>/schedstat: time spent waiting, number of
// turns) over the threads of the watched cgroups. It is used on kernels that refuse BPF programs. It has only count and
// sum, and misses the waits of a thread between the last reading and its end.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"

namespace koord::sched_latency {

class SchedstatProbe final : public Probe {
 public:
  static Result<std::unique_ptr<Probe>> open(const latency::CgroupTree& tree, const ProbeOptions& options);

  Source source() const override { return Source::schedstat; }
  Result<Reading> read(std::span<const latency::CgroupDirectory> watched) override;

 private:
  struct Waited {
    std::uint64_t delay_ns = 0;
    std::uint64_t turns = 0;
  };
  struct Cgroup {
    std::unordered_map<int, Waited> threads;
    Waits total;
    bool begun = false;
  };

  SchedstatProbe(std::string proc, std::string threads_file)
      : proc_(std::move(proc)), threads_file_(std::move(threads_file)) {}

  void update(Cgroup& cgroup, const std::string& path) const;
  Result<Waited> waited(int tid) const;

  std::string proc_, threads_file_;
  std::unordered_map<std::uint64_t, Cgroup> cgroups_;
};

}  // namespace koord::sched_latency
