// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-host-application/application_meter.hpp"

namespace koord::host_application {

ApplicationMeter::ApplicationMeter(const Services& services, Application application, std::uint64_t max_gap_ns)
    : services_(services), application_(std::move(application)) {
  for (const std::string& dir : application_.cgroup_dirs) cgroups_.emplace_back(dir, services, max_gap_ns);
}

ApplicationMeter::~ApplicationMeter() { end_series(); }

bool ApplicationMeter::measure(std::uint64_t now_ns, plugin::Batch& batch) {
  for (Cgroup& cgroup : cgroups_)
    if (measure(cgroup, now_ns, batch)) return true;
  end_series();
  return false;
}

bool ApplicationMeter::measure(Cgroup& cgroup, std::uint64_t now_ns, plugin::Batch& batch) {
  const auto [host, service] = std::pair(services_.host, services_.cgroup);
  const auto usage = cgroup.cpu_usage.read(host, service, cgroup.dir, now_ns);
  const auto stat = cgroup.memory_stat.read_new(host, service, cgroup.dir, now_ns);
  if (!usage && !cgroup.memory_stat.there()) return false;
  if (!series_) begin_series();
  const auto add = [&batch](std::uint64_t series, std::optional<double> value) {
    if (value) batch.add(series, *value);
  };
  if (usage) add(series_->cpu, cgroup.rate.update({usage->values[0], usage->read_ns}));
  if (stat) {
    add(series_->memory, memory::usage_bytes(*stat));
    add(series_->memory_with_page_cache, memory::usage_with_page_cache_bytes(*stat));
    // A single NUMA node has all the memory.
    if (series_->numa_memory.size() == 1) add(series_->numa_memory.begin()->second, memory::usage_bytes(*stat));
  }
  for (const memory::NumaUsage& numa : cgroup.numa_stat.read_new(host, service, cgroup.dir, now_ns))
    batch.add(series_->numa_memory.at(numa.node), numa.bytes);
  return true;
}

void ApplicationMeter::begin_series() {
  const auto series = [this](const plugin::Metric& metric) {
    return metric.series(KOORD_NO_SUBJECT, {{"host_app_name", application_.name},
                                            {"priority_class", application_.priority_class},
                                            {"qos", application_.qos}});
  };
  Series made = {series(services_.cpu), series(services_.memory), series(services_.memory_with_page_cache), {}};
  for (const memory::NumaNode& node : services_.numa_nodes)
    made.numa_memory[node.id] =
        services_.numa_memory.series(KOORD_NO_SUBJECT, {{"host_app_name", application_.name},
                                                        {"priority_class", application_.priority_class},
                                                        {"qos", application_.qos},
                                                        {"numa_node_id", std::to_string(node.id)}});
  series_ = std::move(made);
}

void ApplicationMeter::end_series() {
  if (!series_) return;
  for (std::uint64_t series : {series_->cpu, series_->memory, series_->memory_with_page_cache})
    services_.metrics->end_series(services_.host, series);
  for (const auto& [node, series] : series_->numa_memory) services_.metrics->end_series(services_.host, series);
  series_.reset();
}

}  // namespace koord::host_application
