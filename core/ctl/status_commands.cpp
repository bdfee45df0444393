// SPDX-License-Identifier: Apache-2.0
// koordctl plugins, features, capabilities and events: each shows one list.
#include "core/ctl/command.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/grant_view.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

// Requests one list and prints it as JSON or as a table.
Result<void> print_list(const Invocation& invocation, const std::string& what, std::vector<Column> columns,
                        std::vector<std::string> (*row)(const json::value&)) {
  std::string answer = TRY(ask_agent(invocation, "/api/v1/" + what));
  if (invocation.output == Output::json) {
    invocation.out << answer;
    return {};
  }
  Table table(std::move(columns));
  json::value list = TRY(parse_object(answer));
  for (const json::value& item : json_list(list, what)) table.add(row(item));
  invocation.out << table.render();
  return {};
}

std::string count_of(const json::value& counts, std::string_view key) {
  return format_number(json_number(counts, key));
}

// Returns the processes that run a plugin's instances: "agent", or process ids; "-" if none runs or its own process has
// ended.
std::string runner_of(const json::value& plugin) {
  const bool in_agent = json_list(json_mapping(plugin, "isolation"), "layers").empty();
  std::string shown;
  for (const json::value& instance : json_list(plugin, "instances")) {
    double process = json_number(instance, "process").value_or(0);
    if (process <= 0 && !in_agent) continue;
    std::string name = process > 0 ? format_number(process) : "agent";
    if (shown.find(name) == std::string::npos) shown += (shown.empty() ? "" : " ") + name;
  }
  return shown.empty() ? "-" : shown;
}

// Returns "uid+landlock+seccomp+cgroup", then capabilities such as " +CAP_SYS_ADMIN"; "-" before the plugin is loaded.
std::string isolation_of(const json::value& plugin) {
  const json::value& isolation = json_mapping(plugin, "isolation");
  if (!isolation.is_object() || !isolation.as_object().contains("layers")) return "-";
  std::string text;
  for (const json::value& layer : json_list(isolation, "layers"))
    text += (text.empty() ? "" : "+") + std::string(layer.is_string() ? layer.as_string().c_str() : "?");
  if (text.empty()) return runner_of(plugin) == "agent" ? "none (in process)" : "none";
  for (const json::value& capability : json_list(isolation, "rootCapabilities"))
    text += " +" + std::string(capability.is_string() ? capability.as_string().c_str() : "?");
  return text;
}

// Returns usage and limit: "0.02/0.5".
template <class Format>
std::string of_limit(std::optional<double> used, std::optional<double> limit, Format format) {
  return format(used) + (used && limit ? "/" + format(limit) : "");
}

std::vector<std::string> plugin_row(const json::value& plugin) {
  const json::value& counts = json_mapping(plugin, "counts");
  const json::value& budget = json_mapping(plugin, "budget");
  std::string id = json_text(plugin, "id");
  std::string why = json_text(plugin, "reason");
  if (why.empty()) why = json_text(plugin, "lastError");
  const std::string granted = granted_text(json_mapping(plugin, "grants"));
  return {id.empty() ? json_text(plugin, "path") : id,
          json_text(plugin, "version"),
          json_text(plugin, "gate"),
          json_text(plugin, "state"),
          runner_of(plugin),
          isolation_of(plugin),
          count_of(counts, "calls"),
          count_of(counts, "errors"),
          count_of(counts, "skippedTicks"),
          format_number(json_number(plugin, "restarts")),
          format_seconds(json_number(plugin, "lastSeconds")),
          of_limit(json_number(budget, "cpuCores"), json_number(budget, "cpuLimitCores"), format_cores),
          of_limit(json_number(budget, "memoryBytes"), json_number(budget, "memoryLimitBytes"), format_bytes),
          of_limit(json_number(plugin, "series"), json_number(budget, "seriesLimit"), format_number),
          granted.empty() ? "-" : granted,
          why};
}

Result<void> run_plugins(const Invocation& invocation) {
  return print_list(invocation, "plugins",
                    {{"PLUGIN"},
                     {"VERSION"},
                     {"GATE"},
                     {"STATE"},
                     {"PROCESS"},
                     {"ISOLATION"},
                     {"CALLS", true},
                     {"ERRORS", true},
                     {"SKIPPED", true},
                     {"RESTARTS", true},
                     {"LAST", true},
                     {"CPU", true},
                     {"MEM", true},
                     {"SERIES", true},
                     {"GRANTS"},
                     {"REASON"}},
                    plugin_row);
}

std::vector<std::string> feature_row(const json::value& gate) {
  return {json_text(gate, "name"), json_text(gate, "stage"), json_flag(gate, "default") ? "on" : "off",
          json_flag(gate, "enabled") ? "on" : "off", json_text(gate, "origin")};
}

Result<void> run_features(const Invocation& invocation) {
  return print_list(invocation, "features", {{"FEATURE"}, {"STAGE"}, {"DEFAULT"}, {"NOW"}, {"SET BY"}}, feature_row);
}

std::vector<std::string> capability_row(const json::value& capability) {
  std::string plugin = json_text(capability, "plugin");
  return {json_text(capability, "name"), json_text(capability, "state"), plugin.empty() ? "host" : plugin,
          json_text(capability, "detail")};
}

Result<void> run_capabilities(const Invocation& invocation) {
  return print_list(invocation, "capabilities", {{"CAPABILITY"}, {"STATE"}, {"SOURCE"}, {"DETAIL"}}, capability_row);
}

std::vector<std::string> event_row(const json::value& event) {
  std::string plugin = json_text(event, "plugin");
  const json::value& subject = json_mapping(event, "subject");
  std::string pod = json_text(subject, "pod_name"), container = json_text(subject, "container_name");
  return {format_wall_time(json_number(event, "time").value_or(0)),
          plugin.empty() ? "host" : plugin,
          json_text(subject, "pod_namespace"),
          pod.empty() ? "-" : pod,
          container.empty() ? "-" : container,
          json_text(event, "what"),
          json_text(event, "why")};
}

Result<void> run_events(const Invocation& invocation) {
  return print_list(invocation, "events",
                    {{"TIME"}, {"SOURCE"}, {"NAMESPACE"}, {"POD"}, {"CONTAINER"}, {"WHAT"}, {"WHY"}}, event_row);
}

}  // namespace

const Command kPlugins{"plugins", "", "List plugins with state, isolation, cost, grants and errors.", no_options,
                       run_plugins};
const Command kFeatures{"features", "", "List the feature gates with their sources.", no_options, run_features};
const Command kCapabilities{
    "capabilities", "",
    "List the capabilities of this node, its kernel and each plugin, with reasons for missing ones.", no_options,
    run_capabilities};
const Command kEvents{
    "events", "",
    "List events on this node with their subjects: OOM kills, verdicts of interference, evictions, slowed advisors.",
    no_options, run_events};
}  // namespace koord::ctl
