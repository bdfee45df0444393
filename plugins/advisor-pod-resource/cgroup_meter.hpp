// SPDX-License-Identifier: Apache-2.0
// CgroupMeter: the open files of one pod's or container's cgroup and the series they feed.
#pragma once

#include <cstdint>
#include <string_view>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-pod-resource/pod_resource.hpp"

namespace koord::pod_resource {

struct Services {
  const koord_host* host = nullptr;
  const koord_svc_cgroup* cgroup = nullptr;
};

struct Series {
  std::uint64_t cpu = 0, memory = 0;
};

class CgroupMeter {
 public:
  CgroupMeter(Series series, std::uint64_t max_gap_ns) : series_(series), cpu_meter_(max_gap_ns) {}

  // Each reads one file of the cgroup and adds what it says to `batch`; one that is not there adds nothing. Throws
  // plugin::Failure when it cannot be read.
  void measure_cpu(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch);
  void measure_memory(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch);

 private:
  Series series_;
  CpuMeter cpu_meter_;
  plugin::CgroupValues<1> cpu_{"cpu.usage", {"usage_ns"}};
  plugin::CgroupValues<3> memory_{"memory.stat", {"inactive_anon", "active_anon", "unevictable"}};
};

}  // namespace koord::pod_resource
