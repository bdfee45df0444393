// SPDX-License-Identifier: Apache-2.0
#include "core/manager/colocation.hpp"

#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/state/label_selector.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kStrategyAnnotation = "node.koordinator.sh/colocation-strategy";
constexpr std::int64_t kMostMinutes = 7 * 24 * 60;
constexpr std::int64_t kMostPercent = 100;
constexpr std::size_t kMostDurations = 16;

Result<void> read_integer(const JsonField& field, std::int64_t least, std::int64_t most, std::int64_t& value) {
  if (field.empty()) return {};
  const std::int64_t number = TRY(field.integer(0));
  if (number < least || number > most)
    return field.wrong("found " + std::to_string(number) + ", expected an integer from " + std::to_string(least) +
                       " to " + std::to_string(most));
  value = number;
  return {};
}

template <class Unit>
Result<void> read_time(const JsonField& field, std::int64_t most, Duration& value) {
  std::int64_t number = 0;
  TRY(read_integer(field, 1, most, number));
  if (number > 0) value = Unit(number);
  return {};
}

Result<void> read_policy(const JsonField& field, bool takes_request, Policy& value) {
  const std::string name = TRY(field.text());
  if (name.empty()) return {};
  if (name == "usage")
    value = Policy::usage;
  else if (name == "maxUsageRequest")
    value = Policy::max_usage_request;
  else if (name == "request" && takes_request)
    value = Policy::request;
  else
    return field.wrong("found '" + printable(name) + "', expected " +
                       (takes_request ? "usage, request or maxUsageRequest" : "usage or maxUsageRequest"));
  return {};
}

Result<void> read_share(const JsonField& of, std::string_view lower, std::string_view upper, bool takes_request,
                        ResourceShare& share) {
  const auto at = [&](std::string_view head, std::string_view name, std::string_view tail) {
    return of.any_case(std::string(head) + std::string(name) + std::string(tail));
  };
  TRY(read_integer(at("", lower, "ReclaimThresholdPercent"), 0, kMostPercent, share.reclaim_percent));
  TRY(read_policy(at("", lower, "CalculatePolicy"), takes_request, share.policy));
  TRY(read_integer(at("mid", upper, "ThresholdPercent"), 0, kMostPercent, share.mid_percent));
  TRY(read_integer(at("midStatic", upper, "ReservedPercent"), 0, kMostPercent, share.mid_static_percent));
  const JsonField batch = at("batch", upper, "ThresholdPercent");
  if (batch.empty()) return {};
  std::int64_t percent = 0;
  TRY(read_integer(batch, 0, kMostPercent, percent));
  share.batch_percent = percent;
  return {};
}

Result<void> read_threshold(const JsonField& field, const json::value* number, double& value) {
  if (field.empty()) return {};
  const std::optional<double> found =
      number && number->is_number() ? std::optional(number->to_number<double>()) : std::nullopt;
  if (!found || !(*found > 0 && *found < 1))
    return field.wrong("found " + printable(field.json()) + ", expected a number between 0 and 1");
  value = *found;
  return {};
}

Result<void> read_durations(const JsonField& field, std::vector<std::string>& durations) {
  if (field.empty()) return {};
  const std::vector<JsonField> items = TRY(field.list());
  if (items.size() > kMostDurations)
    return field.wrong("found " + std::to_string(items.size()) + " windows, expected at most 16");
  std::vector<std::string> read;
  for (const JsonField& item : items) {
    const std::string text = TRY(item.required_text());
    const Result<Duration> window = parse_duration(text);
    if (!window || *window <= Duration::zero())
      return item.wrong("found '" + printable(text) + "', expected a time such as \"5m\"");
    read.push_back(text);
  }
  durations = std::move(read);
  return {};
}

const json::value* any_case_member(const json::value& of, std::string_view name) {
  const json::object* object = of.if_object();
  if (!object) return nullptr;
  for (const auto& member : *object)
    if (equal_but_case(member.key(), name)) return &member.value();
  return nullptr;
}

Result<void> read_memory_policy(const JsonField& field, std::string& value) {
  const std::string name = TRY(field.text());
  if (name.empty()) return {};
  for (std::string_view known : {"usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"})
    if (name == known) {
      value = name;
      return {};
    }
  return field.wrong("found '" + printable(name) +
                     "', expected usageWithoutPageCache, usageWithHotPageCache or usageWithPageCache");
}

// Overwrites `settings` with the members of a strategy. On an error some members may already be set; the caller must
// discard `settings`.
Result<void> read_strategy(const json::value& strategy, const std::string& path, Colocation& settings) {
  const JsonField of(strategy, path);
  TRY(of.check_mapping());
  if (const JsonField enable = of.any_case("enable"); !enable.empty()) settings.enable = TRY(enable.boolean());
  TRY(read_share(of, "cpu", "CPU", false, settings.cpu));
  TRY(read_share(of, "memory", "Memory", true, settings.memory));
  TRY(read_integer(of.any_case("midUnallocatedPercent"), 0, kMostPercent, settings.mid_unallocated_percent));
  constexpr std::int64_t kMostSeconds = kMostMinutes * 60;
  TRY(read_time<seconds>(of.any_case("metricAggregateDurationSeconds"), kMostSeconds, settings.aggregate));
  TRY(read_time<seconds>(of.any_case("metricReportIntervalSeconds"), kMostSeconds, settings.report));
  TRY(read_time<minutes>(of.any_case("degradeTimeMinutes"), kMostMinutes, settings.degrade));
  TRY(read_time<seconds>(of.any_case("updateTimeThresholdSeconds"), kMostSeconds, settings.write_period));
  TRY(read_threshold(of.any_case("resourceDiffThreshold"), any_case_member(strategy, "resourceDiffThreshold"),
                     settings.diff_threshold));
  const JsonField aggregates = of.any_case("metricAggregatePolicy");
  TRY(aggregates.check_mapping());
  TRY(read_durations(aggregates.any_case("durations"), settings.aggregate_durations));
  return read_memory_policy(of.any_case("metricMemoryCollectPolicy"), settings.memory_policy);
}

Result<void> check_entries(const json::value& document, const Colocation& cluster) {
  const JsonField entries = JsonField(document).any_case("nodeConfigs");
  if (entries.empty()) return {};
  const std::size_t count = TRY(entries.list()).size();
  const json::array& list = any_case_member(document, "nodeConfigs")->get_array();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = "nodeConfigs[" + std::to_string(i) + ']';
    Colocation settings = cluster;
    TRY(read_strategy(list[i], path, settings));
    if (std::string problem = state::selector_problem(any_case_member(list[i], "nodeSelector")); !problem.empty())
      return invalid(path + ".nodeSelector: " + problem);
  }
  return {};
}

// Replaces a percentage by the ratio of a label, such as "0.7".
void apply_ratio(const state::StringMap& labels, const std::string& name, std::int64_t& percent,
                 std::vector<std::string>& problems) {
  const auto label = labels.find("node.koordinator.sh/" + name);
  if (label == labels.end()) return;
  const Result<double> ratio = parse_double(label->second);
  if (!ratio || !(*ratio >= 0 && *ratio * 100 <= kMostPercent))
    problems.push_back("label " + label->first + ": found '" + printable(label->second) +
                       "', expected a ratio from 0 to 1, ignoring");
  else
    percent = std::llround(*ratio * 100);
}

}  // namespace

// Parsed once for all nodes.
struct ColocationSettings::Document {
  static Result<std::shared_ptr<const Document>> read(std::string_view text) {
    auto document = std::make_shared<Document>();
    document->root = TRY(read_json(text));
    TRY(read_strategy(document->root, "", document->cluster));
    TRY(check_entries(document->root, document->cluster));
    const json::value* entries = any_case_member(document->root, "nodeConfigs");
    document->entries = entries ? entries->if_array() : nullptr;
    if (document->entries)
      for (const json::value& entry : *document->entries)
        document->selectors.add(any_case_member(entry, "nodeSelector"));
    return std::shared_ptr<const Document>(std::move(document));
  }

  Colocation settings_of(const state::StringMap& labels) const {
    Colocation settings = cluster;
    if (const std::optional<std::size_t> index = selectors.index_for(labels))
      (void)read_strategy((*entries)[*index], "", settings);
    return settings;
  }

  json::value root;
  Colocation cluster;                    // for nodes without an entry
  const json::array* entries = nullptr;  // of `root`
  state::FirstSelector selectors;        // of the entries
};

std::string ColocationSettings::take(std::string_view document) {
  if (trim(document).empty()) {
    document_.reset();
    return {};
  }
  Result<std::shared_ptr<const Document>> read = Document::read(document);
  if (!read) return read.error().message();
  document_ = *std::move(read);
  return {};
}

NodeColocation ColocationSettings::of_node(const state::StringMap& labels, const state::StringMap& annotations) const {
  NodeColocation node;
  if (document_) node.settings = document_->settings_of(labels);
  if (const auto own = annotations.find(kStrategyAnnotation); own != annotations.end()) {
    Colocation settings = node.settings;
    const Result<json::value> strategy = read_json(own->second);
    const Result<void> read = strategy ? read_strategy(*strategy, "", settings) : Result<void>(strategy.error());
    if (read)
      node.settings = std::move(settings);
    else
      node.problems.push_back("annotation " + own->first + ": " + read.error().message() + ", ignoring");
  }
  apply_ratio(labels, "cpu-reclaim-ratio", node.settings.cpu.reclaim_percent, node.problems);
  apply_ratio(labels, "memory-reclaim-ratio", node.settings.memory.reclaim_percent, node.problems);
  apply_ratio(labels, "mid-static-cpu-reserved-ratio", node.settings.cpu.mid_static_percent, node.problems);
  apply_ratio(labels, "mid-static-memory-reserved-ratio", node.settings.memory.mid_static_percent, node.problems);
  return node;
}

std::vector<std::string> colocation_fields() {
  std::vector<std::string> names = {"enable",
                                    "midUnallocatedPercent",
                                    "metricAggregateDurationSeconds",
                                    "metricReportIntervalSeconds",
                                    "metricAggregatePolicy",
                                    "metricMemoryCollectPolicy",
                                    "degradeTimeMinutes",
                                    "updateTimeThresholdSeconds",
                                    "resourceDiffThreshold"};
  for (const auto& [lower, upper] : {std::pair{"cpu", "CPU"}, std::pair{"memory", "Memory"}}) {
    const std::string small = lower, large = upper;
    for (const std::string& name :
         {small + "ReclaimThresholdPercent", small + "CalculatePolicy", "mid" + large + "ThresholdPercent",
          "midStatic" + large + "ReservedPercent", "batch" + large + "ThresholdPercent"})
      names.push_back(name);
  }
  return names;
}

std::string node_metric_spec(const Colocation& colocation) {
  const auto whole_seconds = [](Duration time) { return std::chrono::duration_cast<seconds>(time).count(); };
  JsonWriter spec;
  spec.begin_object().key("metricCollectPolicy").begin_object();
  spec.member("aggregateDurationSeconds", whole_seconds(colocation.aggregate));
  spec.member("reportIntervalSeconds", whole_seconds(colocation.report));
  spec.key("nodeAggregatePolicy").begin_object().key("durations").begin_array();
  for (const std::string& duration : colocation.aggregate_durations) spec.value(std::string_view(duration));
  spec.end_array().end_object();
  spec.member("nodeMemoryCollectPolicy", std::string_view(colocation.memory_policy));
  spec.end_object().end_object();
  return spec.text();
}

}  // namespace koord::manager
