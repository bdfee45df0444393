// SPDX-License-Identifier: Apache-2.0
// CgroupMeter: the open files of a pod's or container's cgroup, and their series. On the instance's strand.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/base/counter_rate.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/shared/memory/memory_stat_file.hpp"
#include "plugins/shared/memory/numa_stat_file.hpp"

namespace koord::pod_resource {

struct Services {
  const koord_host* host = nullptr;
  const koord_svc_cgroup* cgroup = nullptr;
};

struct Series {
  std::uint64_t cpu = 0, memory = 0, memory_current = 0;
  std::map<std::uint32_t, std::uint64_t> numa_memory;  // key: NUMA node; only for pods
};

class CgroupMeter {
 public:
  // `nodes`: the nodes in series.numa_memory.
  CgroupMeter(Series series, const memory::NumaNodes& nodes, std::uint64_t max_gap_ns);

  // Each function reads one file of the cgroup and adds its values to `batch`. A file that is missing or has no new
  // values adds nothing. Throws plugin::Failure if the file cannot be read.
  void measure_cpu(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch);
  void measure_memory_current(const Services& services, std::string_view dir, std::uint64_t now_ns,
                              plugin::Batch& batch);
  void measure_memory(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch);
  void measure_numa_memory(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch);

 private:
  Series series_;
  CounterRate cpu_rate_;
  plugin::CgroupValues<1> cpu_{"cpu.usage", {"usage_ns"}};
  plugin::CgroupValues<1> current_{"memory.usage", {"usage_bytes"}};
  memory::MemoryStatFile stat_;
  memory::NumaStatFile numa_stat_;
};

}  // namespace koord::pod_resource
