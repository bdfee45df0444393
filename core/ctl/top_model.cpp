// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/top_model.hpp"

#include <algorithm>

#include "core/ctl/format.hpp"
#include "core/ctl/interference_view.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

// Reads the usage of one subject. Its metrics begin with its scope: "node", "pod" or "container".
Usage usage_of(const json::value& item, const std::string& scope) {
  const json::value& values = json_mapping(item, "values");
  auto value = [&](std::string_view name) { return json_number(values, scope + std::string(name)); };
  return {value("_cpu_usage"),
          value("_memory_usage"),
          value("_sched_latency_p50_seconds"),
          value("_sched_latency_p95_seconds"),
          value("_sched_latency_p99_seconds"),
          value("_cpu_throttled"),
          value("_memory_stall_ratio")};
}

// Returns the row of a container. In a pod the pod's name precedes the container's name.
TopRow container_row(const json::value& container, const std::string& prefix, const std::string& qos) {
  std::string name = json_text(container, "name");
  if (name.empty()) name = json_text(container, "id");
  std::string kind = json_text(container, "kind");
  if (kind == "regular") kind = "container";
  return {kind, prefix + name, qos, usage_of(container, "container")};
}

void add_pod(const json::value& pod, std::vector<TopRow>& rows) {
  std::string ns = json_text(pod, "namespace");
  std::string name = (ns.empty() ? "" : ns + "/") + json_text(pod, "name");
  std::string qos = json_text(pod, "qosClass");
  if (qos.empty()) qos = json_text(pod, "kubernetesQOS");
  rows.push_back({.kind = "pod", .name = name, .qos = qos, .usage = usage_of(pod, "pod"), .pod = name});
  for (const json::value& container : json_list(pod, "containers")) {
    rows.push_back(container_row(container, name + "/", qos));
    rows.back().pod = name;
  }
}

// Adds verdicts by the victim's name. A pod shows the verdict of its first container that has one. Verdicts of
// third-party plugins are omitted.
void add_verdicts(const json::value& answer, std::vector<TopRow>& rows) {
  for (const json::value& verdict : json_list(answer, "verdicts")) {
    if (json_text(verdict, "origin") == "third-party") continue;  // its text and values may be wrong
    const std::string name = json_text(json_mapping(verdict, "victim"), "name"), brief = brief_verdict(verdict);
    for (TopRow& row : rows) {
      const bool is_its = row.name == name || (row.kind == "pod" && name.starts_with(row.name + "/"));
      if (is_its && row.interference.empty()) row.interference = brief;
    }
  }
}

// A wait of this length counts as much as being throttled all the time.
constexpr double kLongWaitSeconds = 0.1;
constexpr double kIdleCores = 0.01, kShortWaitSeconds = 1e-3;

std::optional<double> order_key(const TopRow& row, TopOrder order) {
  const Usage& usage = row.usage;
  switch (order) {
    case TopOrder::harm:
      return harm_of(row);
    case TopOrder::cpu:
      return usage.cpu_cores;
    case TopOrder::memory:
      return usage.memory_bytes;
    case TopOrder::latency:
      return usage.latency_p95;
    case TopOrder::throttled:
      return usage.throttled;
    case TopOrder::stalled:
      return usage.stalled;
    case TopOrder::name:
      break;
  }
  return std::nullopt;
}

std::string left_out_lines(const TopView& view) {
  std::string text;
  if (view.further_rows > 0) text += std::to_string(view.further_rows) + " more; --limit 0 shows them\n";
  if (view.idle_rows > 0) text += std::to_string(view.idle_rows) + " idle; --all shows them\n";
  return text;
}

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < lines && end < text.size(); ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

struct OrderName {
  TopOrder order;
  std::string_view name;
};
constexpr OrderName kOrderNames[] = {{TopOrder::harm, "harm"},
                                     {TopOrder::cpu, "cpu"},
                                     {TopOrder::memory, "memory"},
                                     {TopOrder::latency, "latency"},
                                     {TopOrder::throttled, "throttled"},
                                     {TopOrder::stalled, "stalled"},
                                     {TopOrder::name, "name"}};

}  // namespace

Result<TopOrder> parse_top_order(std::string_view name) {
  for (const OrderName& known : kOrderNames)
    if (known.name == name) return known.order;
  return invalid("--sort '" + std::string(name) +
                 "' is not one of harm, cpu, memory, latency, throttled, stalled, name");
}

std::string_view name_of(TopOrder order) {
  for (const OrderName& known : kOrderNames)
    if (known.order == order) return known.name;
  return {};
}

bool folds_idle_rows(TopOrder order) { return order != TopOrder::memory && order != TopOrder::name; }

Result<TopView> parse_top(const std::string& node_text, const std::string& pods_text, const std::string& verdicts) {
  json::value node = TRY(parse_object(node_text));
  json::value pods = TRY(parse_object(pods_text));
  TopView view;
  view.node = json_text(node, "name");
  view.wall_time = json_number(node, "time").value_or(0);
  view.node_usage = usage_of(node, "node");
  for (const json::value& cpu : json_list(node, "cpus")) view.online_cpus += json_flag(cpu, "online");
  view.memory_total_bytes = json_number(node, "memoryBytes");
  for (const json::value& pod : json_list(pods, "pods")) add_pod(pod, view.rows);
  for (const json::value& container : json_list(pods, "containers"))
    view.rows.push_back(container_row(container, "", ""));
  if (!verdicts.empty()) add_verdicts(TRY(parse_object(verdicts)), view.rows);
  return view;
}

std::optional<double> harm_of(const TopRow& row) {
  const auto wait = row.usage.latency_p95 ? std::optional(*row.usage.latency_p95 / kLongWaitSeconds) : std::nullopt;
  const std::optional<double> most = std::max({row.usage.throttled, row.usage.stalled, wait});
  const bool is_own = row.interference.starts_with("own ");
  if (row.interference.empty()) return most ? std::optional(std::min(*most, 1.0)) : std::nullopt;
  return (is_own ? 1 : 2) + std::min(most.value_or(0), 1.0);
}

bool is_idle(const TopRow& row) {
  const Usage& usage = row.usage;
  return row.interference.empty() && usage.cpu_cores && *usage.cpu_cores < kIdleCores &&
         usage.throttled.value_or(0) == 0 && usage.stalled.value_or(0) == 0 &&
         usage.latency_p95.value_or(0) < kShortWaitSeconds;
}

void shorten(TopView& view, bool without_idle, std::size_t limit) {
  if (without_idle) view.idle_rows += std::erase_if(view.rows, is_idle);
  if (limit == 0 || view.rows.size() <= limit) return;
  view.further_rows += view.rows.size() - limit;
  view.rows.resize(limit);
}

void sort_rows(std::vector<TopRow>& rows, TopOrder order) {
  std::sort(rows.begin(), rows.end(), [order](const TopRow& a, const TopRow& b) {
    std::optional<double> key_a = order_key(a, order);
    std::optional<double> key_b = order_key(b, order);
    return key_a != key_b ? key_a > key_b : a.name < b.name;  // nullopt compares less than any number
  });
}

std::string top_header(const TopView& view) {
  const Usage& usage = view.node_usage;
  return "node " + view.node + "   " + format_wall_time(view.wall_time) + " UTC\n" +  //
         "cpu " + format_cores(usage.cpu_cores) + " of " + std::to_string(view.online_cpus) + " cores   memory " +
         format_bytes(usage.memory_bytes) + " of " + format_bytes(view.memory_total_bytes) +
         "   scheduling latency p50 " + format_seconds(usage.latency_p50) + " p95 " +
         format_seconds(usage.latency_p95) + " p99 " + format_seconds(usage.latency_p99) + "\n\n";
}

std::string top_table(const TopView& view, std::size_t max_width) {
  Table table({{"KIND"},
               {"NAME"},
               {"QOS"},
               {"CPU", true},
               {"MEMORY", true},
               {"WAIT P50", true},
               {"WAIT P95", true},
               {"WAIT P99", true},
               {"THROTTLED", true},
               {"STALLED", true},
               {"INTERFERENCE", true}});
  for (const TopRow& row : view.rows)
    table.add({row.kind, row.name, row.qos, format_cores(row.usage.cpu_cores), format_bytes(row.usage.memory_bytes),
               format_seconds(row.usage.latency_p50), format_seconds(row.usage.latency_p95),
               format_seconds(row.usage.latency_p99), format_percent(row.usage.throttled),
               format_percent(row.usage.stalled), row.interference.empty() ? "-" : row.interference});
  return table.render(max_width);
}

std::string render_top(const TopView& view, std::size_t max_width, std::size_t max_lines) {
  const std::string text = top_header(view) + top_table(view, max_width), left_out = left_out_lines(view);
  if (max_lines == 0) return text + left_out;
  const auto lines = static_cast<std::size_t>(std::count(left_out.begin(), left_out.end(), '\n'));
  return first_lines(first_lines(text, max_lines - std::min(lines, max_lines)) + left_out, max_lines);
}

}  // namespace koord::ctl
