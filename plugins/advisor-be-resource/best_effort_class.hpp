// SPDX-License-Identifier: Apache-2.0
// BestEffortClass: the cgroup of the BestEffort QoS class and the CPU sets of its containers, as plain values. If the
// cgroup is missing, its values are nullopt. On the instance's strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counter_rate.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-be-resource/be_resource.hpp"

namespace koord::be_resource {

// Returns the online CPUs on which tasks of a cgroup can run now. nullopt: the cgroup or the cpuset controller is
// missing. Throws plugin::Failure if the text is not valid.
std::optional<CpuSet> effective_cpus(const plugin::Files& files, std::string_view cgroup_dir);

class BestEffortClass {
 public:
  BestEffortClass(std::string dir, std::uint64_t max_gap_ns) : dir_(std::move(dir)), rate_(max_gap_ns) {}

  const std::string& dir() const { return dir_; }

  // Reads the cumulative CPU time; returns nullopt for the first read, after a gap and after a reset. there() refers to
  // this read.
  std::optional<double> usage_milli(const koord_host* host, const koord_svc_cgroup* cgroup, std::uint64_t now_ns);
  bool there() const { return there_; }

  std::optional<CpuMax> max(const koord_host* host, const koord_svc_cgroup* cgroup, std::uint64_t now_ns);

 private:
  std::string dir_;
  CounterRate rate_;
  bool there_ = false;
  plugin::CgroupValues<1> usage_{"cpu.usage", {"usage_ns"}};
  plugin::CgroupValues<2> max_{"cpu.max", {"quota_us", "period_us"}};
};

}  // namespace koord::be_resource
