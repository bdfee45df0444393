// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/evict_strategy.hpp"

#include <algorithm>

#include "plugins/shared/sdk/if_known.hpp"

namespace koord::eviction {
namespace {

using plugin::if_known;
using plugin::Snapshot;
using plugin::str;
using plugin::Strided;
using plugin::view;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// Returns the capacity from the kernel's topology, if the Node object is unknown.
std::optional<std::int64_t> capacity_by_topology(const koord_topology* topology, Resource resource) {
  if (!topology) return std::nullopt;
  std::int64_t capacity = 0;
  if (resource == Resource::cpu) {
    for (const koord_cpu& cpu : Strided<koord_cpu>(topology->cpus, topology->n_cpus, topology->cpu_stride))
      if ((cpu.flags & KOORD_CPU_ONLINE) != 0) capacity += 1000;
  } else {
    for (const koord_numa_node& node :
         Strided<koord_numa_node>(topology->numa_nodes, topology->n_numa_nodes, topology->numa_node_stride))
      capacity += static_cast<std::int64_t>(node.memory_bytes);
  }
  return capacity > 0 ? std::optional(capacity) : std::nullopt;
}

}  // namespace

void EvictStrategy::init() {
  state_ = plugin::require<koord_svc_state>(host(), "koord.state/1");
  evict_ = plugin::require<koord_svc_evict>(host(), "koord.evict/1");
  metrics_ = MetricQuery(host());
  read_config();
}

void EvictStrategy::on_event(std::uint32_t what, std::uint64_t /*version*/) {
  if (what == KOORD_ON_CONFIG) read_config();
}

std::int64_t EvictStrategy::configured(std::string_view pointer, std::int64_t otherwise) const {
  return plugin::Config(host()).i64(pointer).value_or(otherwise);
}

void EvictStrategy::read_config() {
  const plugin::Config config(host());
  cool_down_ns_ =
      static_cast<std::uint64_t>(config.i64("/coolDownSeconds").value_or(kind_.cool_down_seconds)) * kSecondNs;
  situation_.features.clear();
  for (std::size_t i = 0; auto gate = config.string("/gates/" + std::to_string(i)); ++i)
    situation_.features.push_back(*std::move(gate));
  // A tool that runs only the plugin sets no gates. In that case all features are on.
  if (config.json().find("\"gates\"") == std::string::npos)
    for (std::string_view feature : kind_.features) situation_.features.emplace_back(feature);
}

void EvictStrategy::read_pods(const Snapshot& snapshot) {
  const std::uint64_t version = snapshot.version(KOORD_ON_PODS);
  if (version == pods_version_) return;
  pods_version_ = version;
  situation_.pods.clear();
  for (const koord_pod& pod : snapshot.pods()) {
    if (pod.ns.n == 0) continue;  // known only by its cgroup, so it cannot be evicted, and its eligibility is unknown
    situation_.pods.push_back(candidate_of(pod));
    if (!situation_.pods.back().policy.is_readable())
      log_once(situation_.pods.back().name,
               "its annotation " + std::string(kPolicyAnnotation) + " is no list of features; nothing may evict it");
  }
}

void EvictStrategy::measure_pods(std::uint64_t now_ns) {
  const MetricQuery::BySubject used = metrics_.by_subject(kind_.pod_metric, KOORD_AGG_LAST, now_ns, kFreshNs);
  for (Candidate& pod : situation_.pods) {
    const auto found = used.find(pod.handle);
    pod.used = found == used.end()
                   ? std::nullopt
                   : std::optional(static_cast<std::int64_t>(found->second.value * kind_.pod_metric_scale));
  }
}

void EvictStrategy::read_node(const Snapshot& snapshot) {
  situation_.capacity.reset();
  situation_.allocatable = {};
  const auto take = [&](const koord_resource& resource) {
    const std::string_view name = view(resource.name);
    if (name == name_of(kind_.resource, Tier::native)) situation_.capacity = if_known(resource.limit);
    if (name == name_of(kind_.resource, Tier::mid)) situation_.allocatable.mid = if_known(resource.request);
    if (name == name_of(kind_.resource, Tier::batch)) situation_.allocatable.batch = if_known(resource.request);
  };
  if (const koord_node* node = snapshot.node())
    for (const koord_resource& resource :
         Strided<koord_resource>(node->resources, node->n_resources, node->resource_stride))
      take(resource);
  if (!situation_.capacity || *situation_.capacity <= 0)
    situation_.capacity = capacity_by_topology(snapshot.topology(), kind_.resource);
}

// Returns whether the strategy is on. While the NodeSLO is unknown, no pod is evicted.
bool EvictStrategy::is_wanted(const Snapshot& snapshot, std::uint64_t now_ns) {
  for (const std::string& problem : slo_.follow(snapshot)) log(KOORD_LOG_WARN, problem);
  if (const std::string line = slo_.new_line(now_ns); !line.empty()) log(KOORD_LOG_INFO, line);
  const slo::NodeSlo* slo = slo_.get();
  if (!slo) return false;
  if (!slo->threshold) return log_once("NodeSLO", "it has no resourceUsedThresholdWithBE, so no pod is evicted"), false;
  problems_.update("NodeSLO", "");
  situation_.slo = *slo->threshold;
  situation_.inactive = slo->inactive;
  return situation_.slo.enable == true && !situation_.features.empty();
}

void EvictStrategy::evaluate(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) {
  if (!cool_since_ns_ && kind_.cools_down_at_first) cool_since_ns_ = now_ns;
  const Snapshot snapshot(host(), state_);
  if (!is_wanted(snapshot, now_ns)) return;
  if (cool_since_ns_ && now_ns - *cool_since_ns_ < cool_down_ns_) return;
  read_pods(snapshot);
  read_node(snapshot);
  measure_pods(now_ns);
  Decision decision = decide(situation_, now_ns);
  log_unknown(decision);
  for (const Demand& demand : settle(std::move(decision.demands)))
    if (request(demand)) cool_since_ns_ = now_ns;
}

bool EvictStrategy::request(const Demand& demand) {
  std::vector<std::uint64_t> pods;
  for (const Victim& victim : demand.victims) pods.push_back(victim.pod->handle);
  std::vector<koord_label> inputs = {{str("feature"), str(demand.feature)}};
  for (const auto& [name, value] : demand.inputs) inputs.push_back({str(name), str(value)});
  const std::string resource = name_of(demand.released);
  koord_eviction eviction{};
  eviction.struct_size = sizeof eviction;
  eviction.n_pods = static_cast<std::uint32_t>(pods.size());
  eviction.pods = pods.data();
  eviction.resource = str(resource);
  eviction.reason = str(demand.reason);
  eviction.amount = demand.amount;
  eviction.inputs = inputs.data();
  eviction.n_inputs = static_cast<std::uint32_t>(inputs.size());
  eviction.input_stride = sizeof(koord_label);
  const koord_status status = evict_->request(host(), &eviction);
  if (status == KOORD_E_AGAIN || status == KOORD_E_DENIED) return false;  // the host has reported the reason
  plugin::check(status, "asking for evictions");
  return true;
}

void EvictStrategy::log_unknown(const Decision& decision) {
  for (std::string_view feature : kind_.features) {
    const auto is_its = [&](const std::string& line) { return line.starts_with(std::string(feature) + ":"); };
    const auto line = std::find_if(decision.unknown.begin(), decision.unknown.end(), is_its);
    if (line != decision.unknown.end())
      log_once(feature, line->substr(feature.size() + 2));
    else
      problems_.update(feature, "");
  }
}

void EvictStrategy::log_once(std::string_view about, std::string_view what) {
  if (problems_.update(about, what) == ProblemTracker::Change::begun)
    log(KOORD_LOG_WARN, std::string(about) + ": " + std::string(what));
}

}  // namespace koord::eviction
