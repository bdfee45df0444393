// SPDX-License-Identifier: Apache-2.0
// ApplicationMeter: the cgroup of one host application, in any of its possible places, and its series while the cgroup
// exists. On the instance's strand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/counter_rate.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/advisor-host-application/host_applications.hpp"
#include "plugins/shared/memory/memory_stat_file.hpp"
#include "plugins/shared/memory/numa_stat_file.hpp"

namespace koord::host_application {

// Services for all meters; must outlive them.
struct Services {
  const koord_host* host = nullptr;
  const koord_svc_cgroup* cgroup = nullptr;
  const koord_svc_metrics* metrics = nullptr;
  plugin::Metric cpu, memory, memory_with_page_cache, numa_memory;
  memory::NumaNodes numa_nodes;
};

class ApplicationMeter {
 public:
  ApplicationMeter(const Services& services, Application application, std::uint64_t max_gap_ns);
  ~ApplicationMeter();  // ends its series
  ApplicationMeter(const ApplicationMeter&) = delete;
  ApplicationMeter& operator=(const ApplicationMeter&) = delete;

  const Application& application() const { return application_; }

  // Adds the cgroup's values to `batch`. Returns false and ends the series if the cgroup does not exist. Throws
  // plugin::Failure if a file exists but cannot be read.
  bool measure(std::uint64_t now_ns, plugin::Batch& batch);

 private:
  struct Cgroup {
    Cgroup(std::string where, const Services& services, std::uint64_t max_gap_ns)
        : dir(std::move(where)), rate(max_gap_ns), numa_stat(services.numa_nodes) {}

    std::string dir;
    CounterRate rate;
    plugin::CgroupValues<1> cpu_usage{"cpu.usage", {"usage_ns"}};
    memory::MemoryStatFile memory_stat;
    memory::NumaStatFile numa_stat;
  };
  struct Series {
    std::uint64_t cpu, memory, memory_with_page_cache;
    std::map<std::uint32_t, std::uint64_t> numa_memory;
  };

  bool measure(Cgroup& cgroup, std::uint64_t now_ns, plugin::Batch& batch);
  void begin_series();
  void end_series();

  const Services& services_;
  Application application_;
  std::vector<Cgroup> cgroups_;
  std::optional<Series> series_;
};

}  // namespace koord::host_application
