// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_metric.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/parse.hpp"
#include "core/report/usage_query.hpp"

namespace koord::report {
namespace {

using state::MemoryPolicy;

constexpr std::int64_t kSecond = 1'000'000'000;

std::string_view memory_suffix(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::with_page_cache:
      return "_memory_usage_with_page_cache";
    case MemoryPolicy::with_hot_page_cache:
      return "_memory_with_hot_page_usage";
    case MemoryPolicy::without_page_cache:
      break;
  }
  return "_memory_usage";
}

std::optional<Amounts> amounts_of(std::optional<double> cores, std::optional<double> bytes) {
  if (!cores || !bytes) return std::nullopt;
  return Amounts{milli_of(*cores), whole_of(*bytes)};
}

std::optional<double> find(const UsageQuery::ByLabel& values, const std::string& key) {
  auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

class Composer {
 public:
  explicit Composer(const NodeMetricInputs& inputs)
      : inputs_(inputs),
        query_(inputs.cache, inputs.now, inputs.spec.aggregate, inputs.max_age.value_or(inputs.spec.aggregate / 2)) {}

  NodeMetricReport compose();

 private:
  using DevicesOf = std::map<std::string, std::vector<DeviceUsage>, std::less<>>;

  void node();
  std::vector<AggregatedUsage> windows(const std::string& cpu, const std::string& memory) const;
  std::array<Usage, 5> window(const std::string& cpu, const std::string& memory, Duration span) const;
  void numa();
  void pods();
  void applications();
  void prediction();
  // Returns the GPUs by the value of the label `owner`, or by "" if `owner` is empty.
  DevicesOf devices(const std::string& level, std::string_view owner) const;

  // Memory of one level as the policy defines it. If a subject has no sample of it, this is memory without page cache.
  class MemoryOf {
   public:
    MemoryOf(const UsageQuery& query, MemoryPolicy policy, const std::string& level, std::string_view label);
    std::optional<double> operator()(const std::string& key);
    bool fell_back() const { return fell_back_; }

   private:
    UsageQuery::ByLabel wanted_, plain_;
    bool has_policy_;
    bool fell_back_ = false;
  };

  void report_fallback(const MemoryOf& memory, const char* what);
  // Adds a problem. The text must not change while the problem lasts, because it is written to the API server.
  void report_problem(std::string problem) { report_.problems.push_back(std::move(problem)); }
  std::string wanted_memory() const { return "'" + std::string(state::name_of(inputs_.spec.memory)) + "'"; }

  const NodeMetricInputs& inputs_;
  UsageQuery query_;
  NodeMetricReport report_;
  std::string node_memory_;  // the metric of the policy or of its fallback
};

NodeMetricReport Composer::compose() {
  report_.status.update_seconds = inputs_.wall_ns / kSecond;
  node();
  numa();
  pods();
  applications();
  prediction();
  return std::move(report_);
}

void Composer::node() {
  NodeMetricStatus& status = report_.status;
  node_memory_ = "node" + std::string(memory_suffix(inputs_.spec.memory));
  std::optional<double> bytes = query_.average(node_memory_);
  if (!bytes && inputs_.spec.memory != MemoryPolicy::without_page_cache) {
    report_problem("no samples of the node's memory for " + wanted_memory() + ", reported without page cache");
    node_memory_ = "node_memory_usage";
    bytes = query_.average(node_memory_);
  }
  status.node.amounts = amounts_of(query_.average("node_cpu_usage"), bytes);
  if (!status.node.amounts) {
    report_.refusal = "no fresh samples of the node's usage";
    return;
  }
  DevicesOf gpus = devices("node", {});
  status.node.devices = std::move(gpus[{}]);
  status.node_windows = windows("node_cpu_usage", node_memory_);
  status.system.amounts = amounts_of(query_.average("sys_cpu_usage"), query_.average("sys_memory_usage"));
  if (!status.system.amounts) report_problem("no fresh samples of the system's usage");
  status.system_windows = windows("sys_cpu_usage", "sys_memory_usage");
}

std::vector<AggregatedUsage> Composer::windows(const std::string& cpu, const std::string& memory) const {
  std::vector<AggregatedUsage> windows;
  for (Duration span : inputs_.spec.windows) windows.push_back({span, window(cpu, memory, span)});
  return windows;
}

std::array<Usage, 5> Composer::window(const std::string& cpu, const std::string& memory, Duration span) const {
  std::array<Usage, 5> usages;
  const std::optional<store::AggregateRow> cores = query_.window(cpu, span);
  if (!cores || cores->to - cores->from < span / 2) return usages;
  const std::optional<store::AggregateRow> bytes = query_.window(memory, span);
  if (!bytes) return usages;
  for (std::size_t i = 0; i < usages.size(); ++i) usages[i].amounts = amounts_of(cores->values[i], bytes->values[i]);
  return usages;
}

void Composer::numa() {
  const auto cpu = query_.averages("node_numa_cpu_usage", "numa_node_id");
  const auto memory = query_.averages("node_numa_memory_usage", "numa_node_id");
  const auto system_cpu = query_.averages("sys_numa_cpu_usage", "numa_node_id");
  const auto system_memory = query_.averages("sys_numa_memory_usage", "numa_node_id");
  for (const state::NumaNode& node : inputs_.state.topology.numa_nodes) {
    const std::string id = std::to_string(node.id);
    const std::optional<Amounts> amounts = amounts_of(find(cpu, id), find(memory, id));
    if (!amounts) continue;
    report_.status.numa.push_back({node.id, {amounts}, {amounts_of(find(system_cpu, id), find(system_memory, id))}});
  }
  std::sort(report_.status.numa.begin(), report_.status.numa.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
}

Composer::MemoryOf::MemoryOf(const UsageQuery& query, MemoryPolicy policy, const std::string& level,
                             std::string_view label)
    : plain_(query.averages(level + "_memory_usage", label)), has_policy_(policy != MemoryPolicy::without_page_cache) {
  if (has_policy_) wanted_ = query.averages(level + std::string(memory_suffix(policy)), label);
}

std::optional<double> Composer::MemoryOf::operator()(const std::string& key) {
  if (!has_policy_) return find(plain_, key);
  if (auto wanted = find(wanted_, key)) return wanted;
  const std::optional<double> plain = find(plain_, key);
  if (plain) fell_back_ = true;
  return plain;
}

void Composer::report_fallback(const MemoryOf& memory, const char* what) {
  if (!memory.fell_back()) return;
  report_problem("no samples of the memory of " + std::string(what) + " for " + wanted_memory() +
                 ", reported without page cache");
}

void Composer::pods() {
  const auto cpu = query_.averages("pod_cpu_usage", "pod_uid");
  MemoryOf memory(query_, inputs_.spec.memory, "pod", "pod_uid");
  DevicesOf gpus = devices("pod", "pod_uid");
  std::vector<PodUsage>& pods = report_.status.pods;
  for (const state::Pod& pod : inputs_.state.pods) {
    if (has_ended(pod) || pod.name.empty() || pod.namespace_.empty()) continue;
    const std::optional<double> cores = find(cpu, pod.uid);
    if (!cores) continue;
    const std::optional<Amounts> amounts = amounts_of(cores, memory(pod.uid));
    if (!amounts) continue;
    pods.push_back({pod.namespace_,
                    pod.name,
                    std::string(state::name_of(pod.priority_class)),
                    std::string(state::name_of(pod.koord_qos)),
                    {amounts, std::move(gpus[pod.uid])}});
  }
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  });
  report_fallback(memory, "some pods");
}

void Composer::applications() {
  constexpr const char* kLevel = "host_application";
  MemoryOf memory(query_, inputs_.spec.memory, kLevel, "host_app_name");
  // The newest series of an application determines its class.
  std::map<std::string, store::AggregateRow> newest;
  for (store::AggregateRow& row : query_.rows("host_application_cpu_usage")) {
    auto [at, fresh] = newest.try_emplace(std::string(label_of(row, "host_app_name")), row);
    if (!fresh && row.to > at->second.to) at->second = std::move(row);
  }
  for (const auto& [name, row] : newest) {
    const std::optional<Amounts> amounts = amounts_of(row.values[0], memory(name));
    if (!amounts || name.empty()) continue;
    report_.status.applications.push_back(
        {name, std::string(label_of(row, "priority_class")), std::string(label_of(row, "qos")), {amounts}});
  }
  report_fallback(memory, "some host applications");
}

Composer::DevicesOf Composer::devices(const std::string& level, std::string_view owner) const {
  const auto total = query_.averages("node_gpu_memory_total", "gpu_device_uuid");
  std::map<std::pair<std::string, std::string>, double> used;  // key: owner and UUID
  const auto key_of = [owner](const store::AggregateRow& row) {
    return std::pair(std::string(owner.empty() ? "" : label_of(row, owner)),
                     std::string(label_of(row, "gpu_device_uuid")));
  };
  for (const store::AggregateRow& row : query_.rows(level + "_gpu_memory_usage")) used[key_of(row)] = row.values[0];
  DevicesOf devices;
  for (const store::AggregateRow& row : query_.rows(level + "_gpu_core_usage")) {
    const auto key = key_of(row);
    const auto memory = used.find(key);
    const Result<std::int64_t> minor = parse_int(label_of(row, "gpu_minor"));
    if (memory == used.end() || !minor) continue;
    DeviceUsage device{key.second, static_cast<std::int32_t>(*minor), false, whole_of(row.values[0]),
                       whole_of(memory->second)};
    if (auto health = inputs_.device_health.find(key.second); health != inputs_.device_health.end())
      device.healthy = health->second;
    if (auto bytes = find(total, key.second); bytes && *bytes > 0)
      device.memory_percent = whole_of(100 * memory->second / *bytes);
    devices[key.first].push_back(std::move(device));
  }
  for (auto& [_, of_one] : devices)
    std::sort(of_one.begin(), of_one.end(), [](const auto& a, const auto& b) { return a.minor < b.minor; });
  return devices;
}

void Composer::prediction() {
  if (!inputs_.pods_confirmed) {
    report_.refusal = "the pods of this node are unknown";
    return;
  }
  const Duration age = inputs_.now - *inputs_.pods_confirmed;
  if (age > inputs_.tolerance.old) {
    report_problem("the list of pods is old: reclaimable resources are unknown");
    if (age > inputs_.tolerance.too_old) report_.refusal = "the pods of this node were not confirmed for too long";
    return;
  }
  if (!inputs_.prediction.reclaimable) report_problem("reclaimable resources of prod pods are not predicted");
  report_.status.prod_reclaimable = inputs_.prediction.reclaimable;
  report_.status.prod_peak = inputs_.prediction.peak;
}

}  // namespace

NodeMetricReport make_node_metric(const NodeMetricInputs& inputs) { return Composer(inputs).compose(); }

}  // namespace koord::report
