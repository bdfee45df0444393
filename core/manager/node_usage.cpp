// SPDX-License-Identifier: Apache-2.0
#include "core/manager/node_usage.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/base/timestamp.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/state/objects.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;
using state::PriorityClass;

constexpr std::array kPriorities{PriorityClass::none, PriorityClass::prod, PriorityClass::mid, PriorityClass::batch,
                                 PriorityClass::free};
constexpr std::int64_t kMostWindowSeconds = 7 * 24 * 3600;
// Several times the number of pods on a large node. A report with half a million pods would stop the loop for a second.
constexpr std::size_t kMostPods = 4096;

PriorityClass priority_named(std::string_view name) {
  for (PriorityClass priority : kPriorities)
    if (name_of(priority) == name) return priority;
  return PriorityClass::none;
}

std::int64_t bounded(std::int64_t amount) { return std::clamp<std::int64_t>(amount, 0, kMostAmount); }

// Reads CPU and memory. `of`: a resource map, or an object with a resource map under `resources`.
Result<CpuMemory> read_amounts(const JsonField& of) {
  const auto amounts = TRY(of.resources());
  const auto amount = [&](std::string_view name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? 0 : bounded(found->second);
  };
  return CpuMemory{amount("cpu"), amount("memory")};
}

Result<PodUses> read_uses(const JsonField& list, std::string_view usage, bool has_namespace) {
  PodUses uses;
  const std::vector<JsonField> items = TRY(list.list(kMostPods));
  for (const JsonField& item : items) {
    std::string name = TRY(item["name"].text());
    if (has_namespace) name.insert(0, TRY(item["namespace"].text()) + '/');
    const std::string priority = TRY(item["priority"].text());
    uses.add(name, priority_named(priority), TRY(read_amounts(item[usage]["resources"])));
  }
  uses.fit();
  return uses;
}

std::int64_t request_of(const state::Pod& pod, std::string_view name) {
  for (const state::Resource& resource : pod.resources)
    if (resource.name == name) return bounded(resource.request);
  return 0;
}

}  // namespace

void PodUses::add(std::string_view name, PriorityClass priority, const CpuMemory& usage) {
  names_ += name;
  uses_.push_back({usage, static_cast<std::uint32_t>(names_.size()), priority});
}

void PodUses::fit() {
  names_.shrink_to_fit();
  uses_.shrink_to_fit();
}

PodUse PodUses::operator[](std::size_t at) const {
  const Use& use = uses_[at];
  const std::size_t begin = at == 0 ? 0 : uses_[at - 1].name_end;
  return {std::string_view(names_).substr(begin, use.name_end - begin), use.priority, use.usage};
}

Result<NodeUsage> parse_node_usage(std::string_view object) {
  const json::value document = TRY(read_json(object));
  const JsonField metric(document), status = metric["status"], node = status["nodeMetric"];
  TRY(metric.check_mapping());
  NodeUsage usage;
  std::int64_t window =
      TRY(metric["spec"].any_case("metricCollectPolicy").any_case("aggregateDurationSeconds").integer(300));
  usage.window = std::chrono::seconds(std::clamp<std::int64_t>(window, 1, kMostWindowSeconds));
  usage.update_time = TRY(status["updateTime"].text());
  if (const Result<std::int64_t> time = parse_timestamp(usage.update_time)) usage.update_ns = *time;
  usage.node = TRY(read_amounts(node["nodeUsage"]["resources"]));
  usage.system = TRY(read_amounts(node["systemUsage"]["resources"]));
  usage.pods = TRY(read_uses(status["podsMetric"], "podUsage", true));
  usage.applications = TRY(read_uses(status["hostApplicationMetric"], "usage", false));
  const JsonField reclaimable = status["prodReclaimableMetric"]["resource"]["resources"];
  if (!reclaimable.empty()) usage.prod_reclaimable = TRY(read_amounts(reclaimable));
  return usage;
}

Result<PodFacts> parse_pod_facts(std::string_view object) {
  const state::Pod pod = TRY(state::parse_pod(object, {}));
  PodFacts facts;
  facts.name = state::full_name(pod);
  facts.node = pod.node;
  facts.counts = pod.phase == state::Phase::pending || pod.phase == state::Phase::running;
  facts.qos = pod.koord_qos;
  facts.priority = pod.priority_class;
  facts.request = {request_of(pod, "cpu"), request_of(pod, "memory")};
  return facts;
}

std::string to_line(const PodFacts& pod) {
  std::string line = pod.node;
  for (std::int64_t number : {static_cast<std::int64_t>(pod.counts), static_cast<std::int64_t>(pod.qos),
                              static_cast<std::int64_t>(pod.priority), pod.request.cpu, pod.request.memory})
    line += ' ' + std::to_string(number);
  return line;
}

Result<PodFacts> from_line(std::string name, std::string_view line) {
  PodFacts pod;
  pod.name = std::move(name);
  std::array<std::int64_t, 5> numbers{};
  pod.node = next_field(line, ' ').value_or("");
  for (std::int64_t& number : numbers) number = TRY(parse_int(next_field(line, ' ').value_or("")));
  pod.counts = numbers[0] != 0;
  pod.qos = static_cast<state::KoordQos>(numbers[1]);
  pod.priority = static_cast<PriorityClass>(numbers[2]);
  pod.request = {numbers[3], numbers[4]};
  return pod;
}

bool goes_before_batch(PriorityClass priority) {
  return priority != PriorityClass::batch && priority != PriorityClass::free;
}

}  // namespace koord::manager
