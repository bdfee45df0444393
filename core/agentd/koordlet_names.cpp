// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/koordlet_names.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>

#include "core/metric/find_label.hpp"
#include "core/metric/text_writer.hpp"

namespace koord::agentd {
namespace {

using metric::Labels;
using metric::SeriesView;
using metric::Type;

// Koordlet's name for a value of one of the agent's labels.
struct Word {
  std::string_view ours, theirs;
};
constexpr Word kCpiFields[] = {{"cycle", "cycles"}, {"instruction", "instructions"}};
constexpr Word kPrecisions[] = {{"10", "avg10"}, {"60", "avg60"}, {"300", "avg300"}};

// A label of koordlet. Its value comes from a label of the agent, or is constant.
struct LabelRule {
  std::string_view theirs, ours = {}, always = {};
  std::span<const Word> words = {};
};

constexpr LabelRule kStatus[] = {{"status", "status"}};
constexpr LabelRule kCpuOfApplication[] = {{"host_application_name", "host_app_name"},
                                           {"resource", {}, "cpu"},
                                           {"priority_class", "priority_class"},
                                           {"qos", "qos"}};
constexpr LabelRule kMemoryOfApplication[] = {{"host_application_name", "host_app_name"},
                                              {"resource", {}, "memory"},
                                              {"priority_class", "priority_class"},
                                              {"qos", "qos"}};
constexpr LabelRule kType[] = {{"type", "type"}};
constexpr LabelRule kCpi[] = {{"cpi_field", "cpi_resource", {}, kCpiFields}};
constexpr LabelRule kPsi[] = {{"psi_resource_type", "psi_resource"},
                              {"psi_precision", "psi_precision", {}, kPrecisions},
                              {"psi_degree", "psi_degree"}};
constexpr LabelRule kCache[] = {{"cache_id", "cache_id"}, {"qos", "qos"}};
constexpr LabelRule kBandwidth[] = {{"cache_id", "cache_id"}, {"qos", "qos"}, {"mb_type", "resctrl_mb_type"}};

struct Family {
  std::string_view name, help;
  Type type = Type::gauge;
};

// A metric of the agent and its family in koordlet.
struct Rule {
  std::string_view ours;
  Family family;
  std::span<const LabelRule> labels = {};
  double scale = 1;
  std::string_view only_label = {}, only_value = {};  // if set, only the series with this label value are used
  bool of_pods = false;                               // series without a pod are left out
  std::string_view full = {};  // the agent's metric that says whether the kernel supports "full" for the CPU
};

constexpr Family kApplication{"host_application_resource_usage",
                              "Cores or bytes that an application outside Kubernetes uses."};
// clang-format off
constexpr Rule kRules[] = {
    {"be_suppress_cpu_cores", {"be_suppress_cpu_cores", "Cores that best-effort pods may use."}, kType},
    {"be_suppress_ls_used_cpu_cores", {"be_suppress_ls_used_cpu_cores", "Cores used by pods that are not best-effort."}},
    {"collect_node_cpu_info_total", {"collect_node_cpu_info_status", "Rounds of collecting CPU facts.", Type::counter}, kStatus},
    {"collect_node_local_storage_info_total",
     {"collect_node_local_storage_info_status", "Rounds of collecting disk facts.", Type::counter},
     kStatus},
    {"collect_node_numa_info_total", {"collect_node_numa_info_status", "Rounds of collecting NUMA facts.", Type::counter}, kStatus},
    {"container_cpi", {"container_cpi", "Cycles and instructions of a container in the last window."}, kCpi, 1, {}, {}, true},
    {"container_psi",
     {"container_psi", "Percent of time that tasks of a container were stalled."},
     kPsi, 1, {}, {}, true, "container_psi_cpu_full_supported"},
    {"container_scaled_cfs_burst_us",
     {"container_scaled_cfs_burst_us", "Microseconds of CPU quota that a container may use later."},
     {}, 1, {}, {}, true},
    {"container_scaled_cfs_quota_us",
     {"container_scaled_cfs_quota_us", "CPU quota of a container, in microseconds."},
     {}, 1, {}, {}, true},
    {"host_application_cpu_usage", kApplication, kCpuOfApplication},
    {"host_application_memory_usage", kApplication, kMemoryOfApplication},
    {"node_be", {"be_suppress_be_used_cpu_cores", "Cores that best-effort pods use."}, {}, 0.001, "be_allocation", "usage"},
    {"node_cpu_usage", {"node_used_cpu_cores", "Cores that the node uses."}},
    {"node_memory_usage", {"node_used_memory_bytes", "Memory that the node uses, without cache that can be reclaimed."}},
    {"pod_psi", {"pod_psi", "Percent of time that tasks of a pod were stalled."}, kPsi, 1, {}, {}, true, "pod_psi_cpu_full_supported"},
    {"resctrl_resource_llc", {"resctrl_llc_occupancy", "Bytes of the last cache that a QoS class holds."}, kCache},
    {"resctrl_resource_mb", {"resctrl_memory_bandwidth", "Bytes that a QoS class moved to and from memory, a running total."}, kBandwidth},
};
// clang-format on

std::string_view word_of(std::span<const Word> words, std::string_view ours) {
  auto found = std::find_if(words.begin(), words.end(), [ours](const Word& word) { return word.ours == ours; });
  return found == words.end() ? ours : found->theirs;
}

bool has_value(const SeriesView& series, Time now) {
  return !std::isnan(series.value) && now - series.time <= metric::kDefaultStaleAfter;
}

class Page {
 public:
  explicit Page(const KoordletSources& sources) : sources_(sources) {}

  void add(const Family& family, const Labels& labels, double value) { add(family, "", labels, value); }

  // `suffix`: added to the family's name in a line of a histogram.
  void add(const Family& family, std::string_view suffix, const Labels& labels, double value) {
    Labels all;
    if (!sources_.node.empty()) all.emplace_back("node", sources_.node);
    all.insert(all.end(), labels.begin(), labels.end());
    Lines& lines = families_[family.name];
    lines.family = family;
    lines.text.append("koordlet_").append(family.name).append(suffix).append(metric::render_labels(all, true));
    lines.text.append(all.empty() ? " " : "} ").append(metric::format_number(value)).append("\n");
  }

  void write(std::string& out) const {
    for (const auto& [name, lines] : families_) {
      out.append("# HELP koordlet_").append(name).append(" ").append(metric::escape_help(lines.family.help));
      out.append("\n# TYPE koordlet_").append(name).append(" ").append(to_string(lines.family.type)).append("\n");
      out.append(lines.text);
    }
  }

 private:
  struct Lines {
    Family family;
    std::string text;
  };
  const KoordletSources& sources_;
  std::map<std::string_view, Lines> families_;
};

using FullSupport = std::unordered_map<std::uint64_t, bool>;  // key: subject

FullSupport full_support_of(const KoordletSources& sources) {
  FullSupport support;
  sources.registry.for_each_series([&](const SeriesView& series) {
    const auto is_of = [&](const Rule& rule) { return !rule.full.empty() && rule.full == series.desc.name; };
    const bool is_full_metric = std::any_of(std::begin(kRules), std::end(kRules), is_of);
    if (is_full_metric && has_value(series, sources.now)) support[series.subject] = series.value != 0;
  });
  return support;
}

void add_series(Page& page, const Rule& rule, const SeriesView& series, const FullSupport& full) {
  if (!rule.only_label.empty()) {
    const std::string* value = metric::find_label(series.own_labels, rule.only_label);
    if (value == nullptr || *value != rule.only_value) return;
  }
  if (rule.of_pods && metric::find_label(series.subject_labels, "pod_uid") == nullptr) return;
  Labels labels = series.subject_labels;
  for (const LabelRule& label : rule.labels) {
    const std::string* ours = label.ours.empty() ? nullptr : metric::find_label(series.own_labels, label.ours);
    labels.emplace_back(label.theirs, ours != nullptr ? word_of(label.words, *ours) : label.always);
  }
  if (!rule.full.empty()) {
    auto known = full.find(series.subject);
    labels.emplace_back("cpu_full_supported", known != full.end() && known->second ? "true" : "false");
  }
  page.add(rule.family, labels, series.value * rule.scale);
}

void add_registry(Page& page, const KoordletSources& sources) {
  const FullSupport full = full_support_of(sources);
  sources.registry.for_each_series([&](const SeriesView& series) {
    if (!has_value(series, sources.now)) return;
    for (const Rule& rule : kRules) {
      if (rule.ours == series.desc.name) add_series(page, rule, series, full);
    }
  });
}

// Returns whether koordlet reports the resource. It reports only the resources that it overcommits: batch and mid.
bool is_extended(std::string_view resource) {
  return resource.starts_with("kubernetes.io/batch-") || resource.starts_with("kubernetes.io/mid-");
}
std::string unit_of(std::string_view resource) { return resource.ends_with("memory") ? "byte" : "integer"; }

void add_container(Page& page, const state::Pod& pod, const state::Container& container) {
  constexpr Family kRequests{"container_resource_requests", "Request of a container: milli-cores or bytes."};
  constexpr Family kLimits{"container_resource_limits", "Limit of a container: milli-cores or bytes."};
  for (const state::Resource& resource : container.resources) {
    if (!is_extended(resource.name)) continue;
    const Labels labels{
        {"container_id", container.id},  {"container_name", container.name}, {"pod_uid", pod.uid},
        {"pod_name", pod.name},          {"pod_namespace", pod.namespace_},  {"resource", resource.name},
        {"unit", unit_of(resource.name)}};
    if (resource.request != state::kNoResource) page.add(kRequests, labels, static_cast<double>(resource.request));
    if (resource.limit != state::kNoResource) page.add(kLimits, labels, static_cast<double>(resource.limit));
  }
}

void add_state(Page& page, const state::Snapshot& state) {
  constexpr Family kAllocatable{"node_resource_allocatable",
                                "Allocatable resources of the node: milli-cores or bytes."};
  for (const auto& [resource, amount] : state.node.allocatable) {
    if (is_extended(resource))
      page.add(kAllocatable, {{"resource", resource}, {"unit", unit_of(resource)}}, static_cast<double>(amount));
  }
  for (const state::Pod& pod : state.pods) {
    for (const state::Container& container : pod.containers) {
      // A container without an id has not started.
      if (container.kind == state::ContainerKind::regular && !container.id.empty()) add_container(page, pod, container);
    }
  }
}

std::string_view predictor_name(predict::Predictor predictor) {
  switch (predictor) {
    case predict::Predictor::pod:
      return "podReclaimablePredictor";
    case predict::Predictor::priority:
      return "priorityReclaimablePredictor";
    case predict::Predictor::minimum:
      break;
  }
  return "minPredictor";
}

double cores(const predict::Amounts& amounts) { return static_cast<double>(amounts.cpu_milli) / 1000; }

void add_prediction(Page& page, const predict::Prediction& prediction) {
  constexpr Family kReclaimable{"node_predicted_resource_reclaimable",
                                "Cores or bytes requested by production and not expected to be used."};
  constexpr Family kPeak{"node_predicted_resource_peak",
                         "Cores or bytes that production is expected to use at its peak."};
  constexpr Family kOfClass{"node_priority_resource_reclaimable",
                            "Cores or bytes of production that could be lent; 0 if unknown."};
  constexpr Family kKnown{"node_resource_priority_reclaimable_status",
                          "0: reclaimable resources are known, 1: unknown."};
  const auto reported = prediction.prod();
  const predict::Amounts lent = reported ? reported->reclaimable : predict::Amounts();
  page.add(kOfClass, {{"priority", "koord-prod"}, {"resource", "cpu"}, {"unit", "core"}}, cores(lent));
  page.add(kOfClass, {{"priority", "koord-prod"}, {"resource", "memory"}, {"unit", "byte"}},
           static_cast<double>(lent.memory_bytes));
  page.add(kKnown, {{"priority", "koord-prod"}}, reported ? 0 : 1);
  for (predict::Predictor predictor : predict::kPredictors) {
    auto prod = prediction.prod(predictor);
    if (!prod) continue;
    const std::string name(predictor_name(predictor));
    const Labels cpu{{"predictor", name}, {"resource", "cpu"}, {"unit", "core"}};
    const Labels memory{{"predictor", name}, {"resource", "memory"}, {"unit", "byte"}};
    for (const auto& [family, amounts] : {std::pair{kReclaimable, prod->reclaimable}, std::pair{kPeak, prod->peak}}) {
      page.add(family, cpu, cores(amounts));
      page.add(family, memory, static_cast<double>(amounts.memory_bytes));
    }
  }
}

void add_kubelet(Page& page, const KubeletDurations& kubelet) {
  constexpr Family kDuration{"kubelet_request_duration_seconds", "Duration of the kubelet's answers, in seconds.",
                             Type::histogram};
  for (const auto& [key, histogram] : kubelet.all()) {
    const auto& [path, code] = key;
    const Labels labels{{"verb", "get"}, {"path", path == "/pods" ? "/pods/" : path}, {"code", code}};
    const auto bucket = [&](const std::string& bound, std::uint64_t count) {
      Labels with_bound = labels;
      with_bound.emplace_back("le", bound);
      page.add(kDuration, "_bucket", with_bound, static_cast<double>(count));
    };
    for (std::size_t i = 0; i < histogram.at_most.size(); ++i)
      bucket(metric::format_number(KubeletDurations::kBounds[i]), histogram.at_most[i]);
    bucket("+Inf", histogram.count);
    page.add(kDuration, "_sum", labels, histogram.sum);
    page.add(kDuration, "_count", labels, static_cast<double>(histogram.count));
  }
}

void add_usage(Page& page, const Family& family, const Labels& labels, const report::Usage& usage) {
  if (!usage.amounts) return;
  const auto with = [&labels](const char* resource, const char* unit) {
    Labels all = labels;
    all.insert(all.end(), {{"resource", resource}, {"unit", unit}});
    return all;
  };
  page.add(family, with("cpu", "core"), cores(*usage.amounts));
  page.add(family, with("memory", "byte"), static_cast<double>(usage.amounts->memory_bytes));
}

void add_reported(Page& page, const report::NodeMetricStatus& status) {
  constexpr Family kNode{"node_metric_node_usage", "Cores or bytes of the node, as reported."};
  constexpr Family kSystem{"node_metric_system_usage", "Cores or bytes used outside pods, as reported."};
  constexpr Family kNumaNode{"node_metric_numa_node_usage", "Cores or bytes of a NUMA node, as reported."};
  constexpr Family kNumaSystem{"node_metric_numa_system_usage",
                               "Cores or bytes used outside pods on a NUMA node, as reported."};
  add_usage(page, kNode, {}, status.node);
  add_usage(page, kSystem, {}, status.system);
  for (const report::NumaUsage& numa : status.numa) {
    const Labels labels{{"numa_node_id", std::to_string(numa.id)}};
    add_usage(page, kNumaNode, labels, numa.node);
    add_usage(page, kNumaSystem, labels, numa.system);
  }
}

void add_pools(Page& page, const report::CpuPools& pools) {
  page.add({"cpuset_share_pool_cpu_cores", "CPUs that LS pods share."}, {}, static_cast<double>(pools.shared.size()));
  page.add({"cpuset_be_share_pool_cpu_cores", "CPUs that BE pods share."}, {},
           static_cast<double>(pools.best_effort.size()));
}

}  // namespace

void write_koordlet_names(std::string& out, const KoordletSources& sources) {
  Page page(sources);
  page.add({"start_time", "Start time of the agent, in Unix seconds."}, {}, sources.start_seconds);
  add_registry(page, sources);
  add_state(page, sources.state);
  if (sources.prediction != nullptr) add_prediction(page, *sources.prediction);
  if (sources.kubelet != nullptr) add_kubelet(page, *sources.kubelet);
  if (sources.reported != nullptr) add_reported(page, *sources.reported);
  if (sources.pools != nullptr) add_pools(page, *sources.pools);
  if (sources.evictions > 0)
    page.add({"pod_eviction", "Pods that were evicted.", Type::counter}, {{"reason", "evicted"}},
             static_cast<double>(sources.evictions));
  page.write(out);
}

}  // namespace koord::agentd
