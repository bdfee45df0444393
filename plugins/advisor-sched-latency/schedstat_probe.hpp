// SPDX-License-Identifier: Apache-2.0
// SchedstatProbe adds up what the kernel keeps for each thread (/proc/<tid>/schedstat: time spent waiting,
// number of turns) over the threads of the watched cgroups. For kernels that load no programs. Count and sum
// only, and what a thread waited between the last reading and its end is missed.
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
