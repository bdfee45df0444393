// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_explain.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"
#include "core/state/slo_cluster.hpp"
#include "core/state/slo_inactive.hpp"
#include "core/state/slo_merge.hpp"
#include "core/state/slo_pod.hpp"

namespace koord::state {

namespace json = boost::json;

struct SloExplainer::Documents {
  SnapshotPtr snapshot;
  json::value received;
  json::value effective;
  InactiveStrategies inactive;
  std::vector<SloProblem> problems;
  std::optional<ClusterSlo> cluster;  // nullopt: unknown
};

namespace {

using Names = std::span<const std::string_view>;

const json::value* find(const json::value* value, Names names) {
  for (std::size_t i = 0; value && i < names.size(); ++i) value = find_member(*value, names[i]);
  return value;
}

std::string json_text(const json::value* value) { return value ? json::serialize(*value) : ""; }

bool may_be(const SloField& field, const json::value& value) {
  return field.type == SloType::list ? value.is_array() : taken_value(field, value).has_value();
}

// Returns whether `path` is `outer` or below it.
bool is_or_lies_in(std::string_view path, std::string_view outer) {
  return path == outer || (path.starts_with(outer) && (path[outer.size()] == '.' || path[outer.size()] == '['));
}

// Explains one field. Its layers are added in ascending priority.
class Explaining {
 public:
  Explaining(const SloLeaf& leaf, const Snapshot& snapshot) : leaf_(leaf), snapshot_(snapshot) { result_.leaf = &leaf; }

  void add_default() {
    const std::optional<json::value> fallback = default_of(*leaf_.field, leaf_.profile);
    SloLayer layer{SloOrigin::fallback, "built-in default", fallback ? json::serialize(*fallback) : "", ""};
    if (!fallback)
      layer.note = leaf_.field->unset.empty() ? "none" : "none; then it is " + std::string(leaf_.field->unset);
    if (fallback) result_.winner = SloOrigin::fallback;
    result_.layers.push_back(std::move(layer));
  }

  void add_cluster(const std::optional<ClusterSlo>& cluster) {
    if (!cluster) {
      add(SloOrigin::cluster, "cluster", nullptr, "the ConfigMap slo-controller-config is not known here");
      return;
    }
    const ClusterSection section = cluster->section(leaf_.names[0], snapshot_.node.labels);
    if (section.key.empty())
      return add(SloOrigin::cluster, "cluster", nullptr, "the ConfigMap has nothing for this field");
    const bool applications = leaf_.names[0] == "hostApplications";
    const std::string_view list[] = {"applications"};
    const Names names = applications ? Names(list) : Names(leaf_.names).subspan(1);
    cluster_ = find(section.strategy, names);
    add(SloOrigin::cluster, (applications ? "" : "clusterStrategy of ") + section.key, cluster_, section.problem);
    if (!section.problem.empty()) return;
    if (!section.entry)
      return add(
          SloOrigin::node, "node entry of " + section.key, nullptr,
          section.entries == 0 ? "no entries" : "none of " + std::to_string(section.entries) + " selects this node");
    node_ = find(section.entry, names);
    add(SloOrigin::node, section.entry_title + " of " + section.key, node_, "");
  }

  // Adds the layer of the NodeSLO. `object`: the received text; null: unknown. `effective`: the value after the merge.
  void add_object(const json::value& received, const std::string* object, const json::value* effective,
                  const std::vector<SloProblem>& problems) {
    const json::value* value = find(&received, leaf_.names);
    const std::string problem = problem_of(problems, value);
    SloLayer layer{SloOrigin::object, "NodeSLO", json_text(value), ""};
    if (!object)
      layer.note = "none is known here";
    else if (object->empty())
      layer.note = "the cluster has none for this node";
    else if (!problem.empty())
      layer.note = "rejected: " + problem;
    else if (!value)
      layer.note = "does not set it";
    else
      take_from_object(*value, layer);
    if (const std::string lost = lost_of(problems); problem.empty() && !lost.empty())
      layer.note = "partly rejected: " + lost;
    result_.layers.push_back(std::move(layer));
    result_.value = json_text(effective);
  }

  // Adds the layer of inactive strategies. A received value that was dropped is still shown in its own layer.
  void add_inactive(const InactiveStrategies& inactive) {
    const std::string reasons = inactive.reasons(*leaf_.field, leaf_.profile);
    if (reasons.empty()) return;
    result_.layers.push_back({SloOrigin::off, "inactive", "", reasons});
    if (!inactive.cover(*leaf_.field, leaf_.profile)) return;
    is_inactive_ = true;
    result_.layers.back().value = leaf_.field->inactive;
    result_.winner = leaf_.field->inactive.empty() ? SloOrigin::none : SloOrigin::off;
  }

  void add_off(const json::value& effective) {
    const bool of_class =
        leaf_.profile == SloProfile::lsr || leaf_.profile == SloProfile::ls || leaf_.profile == SloProfile::be;
    if (!of_class || !leaf_.section || !is_switched(*leaf_.section) || leaf_.field->name == "enable") return;
    std::vector<std::string_view> enable(leaf_.names.begin(), leaf_.names.end() - 1);
    enable.push_back("enable");
    const json::value* on = find(&effective, enable);
    if (on && *on == json::value(true)) return;
    const std::string section = leaf_.path.substr(0, leaf_.path.rfind('.'));
    result_.layers.push_back(
        {SloOrigin::off, "off", std::string(leaf_.field->defaults.off), section + ".enable is false"});
    result_.winner = leaf_.field->defaults.off.empty() ? SloOrigin::none : SloOrigin::off;
  }

  void add_pod(const Pod& pod) {
    const std::optional<PodSlo> own = pod_slo(leaf_, pod);
    const std::string name = "pod " + full_name(pod);
    if (!own) {
      result_.layers.push_back({SloOrigin::pod, name, "", "no annotation of a pod changes this field"});
      return;
    }
    result_.layers.push_back(
        {SloOrigin::pod, name + ", " + own->annotation, own->value ? json::serialize(*own->value) : "", own->note});
    if (is_inactive_) result_.layers.back().note = "the strategy is inactive on this node";
    if (!own->counts || is_inactive_) return;
    result_.winner = own->value ? SloOrigin::pod : SloOrigin::none;
    result_.value = own->value ? json::serialize(*own->value) : "";
  }

  SloExplanation result() && { return std::move(result_); }

 private:
  void add(SloOrigin origin, std::string title, const json::value* value, std::string note) {
    if (note.empty())
      note = !value                         ? "does not set it"
             : may_be(*leaf_.field, *value) ? ""
                                            : "would be rejected: expected " + expected_of(*leaf_.field);
    result_.layers.push_back({origin, std::move(title), json_text(value), std::move(note)});
  }

  void take_from_object(const json::value& value, SloLayer& layer) {
    if (node_ && *node_ == value)
      result_.winner = SloOrigin::node;
    else if (cluster_ && *cluster_ == value)
      result_.winner = SloOrigin::cluster;
    else
      result_.winner = SloOrigin::object;
    if (result_.winner != SloOrigin::object)
      layer.note = "has it from there";
    else if (cluster_ || node_)
      layer.note = "differs from the cluster's settings";
  }

  // Returns why the received value was rejected. If lower ≥ upper, both received values are rejected.
  std::string problem_of(const std::vector<SloProblem>& problems, const json::value* value) const {
    for (const SloProblem& problem : problems) {
      if (is_or_lies_in(leaf_.path, problem.path)) return "expected " + problem.expected;
      if (value && is_lower_of_this(problem.path))
        return "it is not more than " + problem.path + ", which is " + problem.found;
    }
    return "";
  }

  // Returns the rejected entries of a list.
  std::string lost_of(const std::vector<SloProblem>& problems) const {
    std::string lost;
    for (const SloProblem& problem : problems)
      if (leaf_.field->type == SloType::list && problem.path != leaf_.path && is_or_lies_in(problem.path, leaf_.path))
        lost += (lost.empty() ? "" : "; ") + state::text_of(problem);
    return lost;
  }

  bool is_lower_of_this(const std::string& path) const {
    if (!leaf_.section) return false;
    const std::string_view section = std::string_view(leaf_.path).substr(0, leaf_.path.rfind('.'));
    for (const SloField& field : leaf_.section->fields)
      if (field.below == leaf_.field->name && path == std::string(section) + '.' + std::string(field.name)) return true;
    return false;
  }

  const SloLeaf& leaf_;
  const Snapshot& snapshot_;
  SloExplanation result_;
  bool is_inactive_ = false;
  const json::value* cluster_ = nullptr;
  const json::value* node_ = nullptr;
};

}  // namespace

std::string_view name_of(SloOrigin origin) {
  switch (origin) {
    case SloOrigin::none:
      return "";
    case SloOrigin::fallback:
      return "default";
    case SloOrigin::cluster:
      return "cluster";
    case SloOrigin::node:
      return "node";
    case SloOrigin::object:
      return "NodeSLO";
    case SloOrigin::off:
      return "off";
    case SloOrigin::pod:
      return "pod";
  }
  return "";
}

SloExplainer::SloExplainer(std::unique_ptr<Documents> documents) : documents_(std::move(documents)) {}
SloExplainer::~SloExplainer() = default;
SloExplainer::SloExplainer(SloExplainer&&) noexcept = default;

Result<SloExplainer> SloExplainer::make(SnapshotPtr snapshot) {
  auto documents = std::make_unique<Documents>();
  documents->received = json::object();
  if (snapshot->received_slo && !trim(*snapshot->received_slo).empty())
    documents->received = TRY(parse_document(*snapshot->received_slo));
  documents->effective = merge_slo(documents->received, documents->problems);
  documents->inactive = InactiveStrategies(documents->effective);
  if (snapshot->cluster_slo) documents->cluster.emplace(*snapshot->cluster_slo);
  documents->snapshot = std::move(snapshot);
  return SloExplainer(std::move(documents));
}

SloExplanation SloExplainer::explain(const SloLeaf& leaf, const Pod* pod) const {
  const Documents& d = *documents_;
  Explaining explaining(leaf, *d.snapshot);
  explaining.add_default();
  explaining.add_cluster(d.cluster);
  explaining.add_object(d.received, d.snapshot->received_slo.get(), find(&d.effective, leaf.names), d.problems);
  explaining.add_inactive(d.inactive);
  explaining.add_off(d.effective);
  if (pod) explaining.add_pod(*pod);
  return std::move(explaining).result();
}

}  // namespace koord::state
