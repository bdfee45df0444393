// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/decision_view.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kNoStrategy =
    "No strategy manages this pod.\n"
    "koordctl mode lists the strategies, koordctl slo the features that an invalid figure makes inactive.\n";

// Returns a result: "lost to com.acme.quota", "failed: cannot write …"
std::string result_of(const json::value& decision) {
  std::string result = json_text(decision, "result");
  const std::string problem = json_text(decision, "problem"), winner = json_text(decision, "winner");
  if (result == "lost" && !winner.empty()) result += " to " + winner;
  if (result == "lost" && json_text(decision, "mode") == "shadow") result += ", in shadow";
  return problem.empty() ? result : result + ": " + problem;
}

// Returns a reason: "the node is busy (usage=7.3, threshold=6.5)"
std::string why_of(const json::value& decision) {
  std::string inputs;
  if (const json::value* given = json_member(decision, "inputs"); given != nullptr && given->is_object()) {
    for (const auto& [name, value] : given->as_object()) {
      inputs += (inputs.empty() ? "(" : ", ") + std::string(name) + "=";
      inputs += value.is_string() ? std::string(value.as_string()) : json::serialize(value);
    }
  }
  const std::string reason = json_text(decision, "reason");
  return reason + (reason.empty() || inputs.empty() ? "" : " ") + (inputs.empty() ? "" : inputs + ")");
}

std::string pod_of(const json::value& object) {
  const json::value& pod = json_mapping(object, "pod");
  const std::string name = json_text(pod, "name");
  if (name.empty()) return "-";
  const std::string container = json_text(object, "container");
  return json_text(pod, "namespace") + "/" + name + (container.empty() ? "" : "/" + container);
}

// Returns a mode: "shadow", or "shadow (disabled)" if the strategy does not run.
std::string mode_of(const json::value& mode) {
  const std::string state = json_text(mode, "state");
  return json_text(mode, "mode") + (state.empty() || state == "running" ? "" : " (" + state + ")");
}

std::string time_of(const json::value& object, const char* key) {
  const std::optional<double> time = json_number(object, key);
  return time ? format_wall_time(*time) : "-";
}

std::string value_of(const json::value& knob) {
  const std::string problem = json_text(knob, "problem");
  return problem.empty() ? json_text(knob, "value") : problem;
}

// Returns an intent: "20000 100000", "scale 1.5", "cap 50000 100000"
std::string intent_of(const json::value& intent) {
  const std::string role = json_text(intent, "role"), wanted = json_text(intent, "wanted");
  return role.empty() || role == "set" || wanted.empty() ? wanted : role + " " + wanted;
}

// Returns the parts of a composition without its value: "base 100000 (limit 1) × 1.5 (qos-cpu-burst), no cap"
std::string parts_of(const json::value& decision) {
  const std::string text = json_text(decision, "composition");
  const std::size_t equals = text.find(" = ");
  return equals == std::string::npos ? "" : text.substr(equals + 3);
}

// Returns the owner of a knob: the pod's container, the pod itself, or the cgroup of its class.
std::string owner_of(const json::value& knob) {
  const std::string container = json_text(knob, "container"), level = json_text(knob, "level");
  if (!container.empty()) return container;
  return level == "qos" ? "class " + json_text(knob, "cgroup") : level;
}

// Returns the value of a composition, such as "150000 100000". The text begins with the knob's name.
std::string composed_value_of(const json::value& knob) {
  const std::string text = json_text(knob, "composition");
  const std::size_t start = text.find(' '), equals = text.find(" = ");
  return start == std::string::npos || equals == std::string::npos || equals <= start
             ? ""
             : text.substr(start + 1, equals - start - 1);
}

// Returns why an applied cap or floor has no effect; "" if it limits the value or equals it.
std::string idle_bound_of(const json::value& knob, const json::value& intent) {
  const std::string role = json_text(intent, "role"), value = composed_value_of(knob);
  if ((role != "cap" && role != "floor") || json_text(intent, "result") != "applied") return "";
  for (const json::value& part : json_list(knob, "parts")) {
    const bool is_its = json_text(part, "role") == role && json_text(part, "plugin") == json_text(intent, "plugin") &&
                        json_text(part, "source").empty();
    if (!is_its || json_flag(part, "binds") || json_text(part, "value") == value) continue;
    if (json_text(knob, "knob") == "cpuset.cpus") return "; the set is already smaller";
    return role == "cap" ? "; the value is already lower" : "; the value is already higher";
  }
  return "";
}

// Adds a row for each intent. The first row also has the knob's own cells.
void add_rows(Table& table, const std::string& owner, const json::value& knob) {
  static const json::value kNoIntent(json::object{});
  const bool is_held = json_flag(knob, "held");
  std::vector<std::string> cells{owner, json_text(knob, "knob"), value_of(knob),
                                 is_held ? json_text(knob, "original") : "-",
                                 is_held ? text_or_dash(json_text(knob, "holder")) : "-"};
  const json::array& intents = json_list(knob, "intents");
  std::vector<const json::value*> rows;
  for (const json::value& intent : intents) rows.push_back(&intent);
  if (rows.empty()) rows.push_back(&kNoIntent);
  for (const json::value* intent : rows) {
    cells.resize(5);
    for (const std::string& text : {json_text(*intent, "plugin"), intent_of(*intent), result_of(*intent),
                                    why_of(*intent) + idle_bound_of(knob, *intent)})
      cells.push_back(text_or_dash(text));
    table.add(cells);
    cells.assign(5, "");
  }
}

std::vector<Column> knob_columns(const char* owner) {
  return {{owner}, {"KNOB"}, {"NOW"}, {"ORIGINAL"}, {"HELD BY"}, {"STRATEGY"}, {"INTENT"}, {"RESULT"}, {"WHY"}};
}

// Returns the knob, or the kind of a decision without a knob.
std::string knob_or_kind(const json::value& decision) {
  const std::string knob = json_text(decision, "knob"), kind = json_text(decision, "kind");
  return text_or_dash(knob.empty() && kind != "knob" ? kind : knob);
}

Table decision_table(const json::array& decisions) {
  Table table({{"NUMBER", true},
               {"TIME"},
               {"STRATEGY"},
               {"POD"},
               {"CGROUP"},
               {"KNOB"},
               {"BEFORE"},
               {"INTENT"},
               {"RESULT"},
               {"WHY"},
               {"PARTS"}});
  for (const json::value& decision : decisions)
    table.add({format_number(json_number(decision, "number")), time_of(decision, "time"),
               text_or_dash(json_text(decision, "plugin")), pod_of(decision),
               text_or_dash(json_text(decision, "cgroup")), knob_or_kind(decision),
               text_or_dash(json_text(decision, "before")), text_or_dash(intent_of(decision)), result_of(decision),
               why_of(decision), text_or_dash(parts_of(decision))});
  return table;
}

// Returns a line for each composed value.
std::string compositions_of(const json::array& knobs, std::string (*owner)(const json::value&)) {
  std::string lines;
  for (const json::value& knob : knobs)
    if (const std::string text = json_text(knob, "composition"); !text.empty())
      lines += "  " + owner(knob) + ": " + text + "\n";
  return lines.empty() ? "" : "\nComposed values:\n" + lines;
}

// Returns a line for each knob that was not reverted because the kernel refused its original value.
std::string failed_reverts_of(const json::array& knobs, std::string (*owner)(const json::value&)) {
  std::string lines;
  for (const json::value& knob : knobs)
    if (const std::string problem = json_text(knob, "revertProblem"); !problem.empty())
      lines += "  " + owner(knob) + ": " + json_text(knob, "knob") + " of " + text_or_dash(json_text(knob, "holder")) +
               " to '" + json_text(knob, "original") + "': " + problem + "\n";
  return lines.empty() ? "" : "\nReverts that failed, tried again each second:\n" + lines;
}

std::string cgroup_of(const json::value& knob) {
  const std::string cgroup = json_text(knob, "cgroup");
  return cgroup.empty() ? "node" : cgroup;
}

// Returns the evictions of one pod, which the heading names.
std::string evictions_of(const json::array& decisions) {
  if (decisions.empty()) return "";
  Table table({{"NUMBER", true}, {"TIME"}, {"STRATEGY"}, {"RESULT"}, {"WHY"}});
  for (const json::value& decision : decisions)
    table.add({format_number(json_number(decision, "number")), time_of(decision, "time"),
               text_or_dash(json_text(decision, "plugin")), result_of(decision), why_of(decision)});
  return "\nConsidered for eviction:\n" + table.render();
}

// Returns the answers of hooks for one pod.
std::string hook_answers_of(const json::array& decisions) {
  if (decisions.empty()) return "";
  Table table({{"NUMBER", true},
               {"TIME"},
               {"HOOK"},
               {"STAGE"},
               {"TARGET"},
               {"FIELD"},
               {"REQUESTED"},
               {"ANSWER"},
               {"GIVEN"},
               {"MODE"},
               {"RESULT"},
               {"WHY"}});
  for (const json::value& decision : decisions) {
    const json::value& inputs = json_mapping(decision, "inputs");
    std::string why = parts_of(decision);
    if (why.empty()) why = json_text(decision, "reason");
    table.add({format_number(json_number(decision, "number")), time_of(decision, "time"), json_text(decision, "plugin"),
               json_text(inputs, "stage"), owner_of(decision), text_or_dash(json_text(decision, "knob")),
               text_or_dash(json_text(decision, "before")), text_or_dash(intent_of(decision)),
               text_or_dash(json_text(decision, "after")), json_text(inputs, "mode"), result_of(decision),
               text_or_dash(why)});
  }
  return "\nAnswers of runtime hooks when it was made or updated:\n" + table.render();
}

json::array without_evictions(const json::array& decisions) {
  json::array kept;
  for (const json::value& decision : decisions)
    if (json_text(decision, "kind") != "eviction") kept.push_back(decision);
  return kept;
}

// Returns the annotation, such as "cpu.max", and its parts without effect: "cpu.mx, cpu.max; 'cpu.mx' is neither a knob
// nor a strategy: ignored"
std::string hands_off_of(const json::value& pod) {
  const std::string annotation = json_text(pod, "handsOff");
  const json::array& unknown = json_list(pod, "handsOffUnknown");
  const auto name_at = [&](std::size_t i) {
    return unknown[i].is_string() ? std::string(unknown[i].get_string()) : std::string();
  };
  if (unknown.size() == 1 && name_at(0) == annotation)
    return "'" + annotation + "', which is neither \"true\", a knob nor a strategy: ignored";
  std::string text = annotation;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    text += "; '" + name_at(i) + "' is neither a knob nor a strategy: ignored";
  return text;
}

std::string head_of(const json::value& answer) {
  const json::value& pod = json_mapping(answer, "pod");
  std::string text = json_text(pod, "namespace") + "/" + json_text(pod, "name");
  if (const std::string qos = json_text(pod, "qosClass"); !qos.empty()) text += ", " + qos;
  if (const std::string cgroup = json_text(pod, "cgroup"); !cgroup.empty()) text += ", in " + cgroup;
  if (json_flag(pod, "ended")) text += ", has ended";
  text += "\n";
  if (const json::value* annotation = json_member(pod, "handsOff"); annotation != nullptr)
    text += "The pod says hands off: " + hands_off_of(pod) + "\n";
  if (json_flag(answer, "nodeHandsOff")) text += "All strategies of the node are switched off; see koordctl mode\n";
  return text;
}

std::string events_of(const json::array& events) {
  if (events.empty()) return "";
  Table table({{"TIME"}, {"SOURCE"}, {"EVENT"}, {"WHY"}});
  for (const json::value& event : events) {
    const std::string plugin = json_text(event, "plugin");
    table.add(
        {time_of(event, "time"), plugin.empty() ? "host" : plugin, json_text(event, "what"), json_text(event, "why")});
  }
  return "\n" + table.render();
}

// Returns whether the node's mode limits the strategy to a lower mode than its own setting.
bool is_under_ceiling(const json::value& mode, const json::value& node) {
  if (json_text(mode, "target") == json_text(node, "target") || json_member(node, "override") == nullptr) return false;
  std::string own = json_text(mode, "override");
  if (own.empty()) own = json_text(mode, "configured");
  if (own.empty()) own = json_text(node, "configured");
  return own != json_text(mode, "mode");
}

// Returns the end of a mode. An override without an end lasts until an operator removes it or the agent ends.
std::string end_of(const json::value& mode) {
  return json_member(mode, "override") != nullptr && json_member(mode, "until") == nullptr ? "until lifted"
                                                                                           : time_of(mode, "until");
}

std::string source_of(const json::value& mode) {
  if (json_member(mode, "override") != nullptr)
    return json_text(mode, "by").empty() ? "an operator" : json_text(mode, "by");
  return json_member(mode, "configured") != nullptr ? "configuration" : "node";
}

}  // namespace

Result<std::string> render_decisions(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  const json::array& decisions = json_list(parsed, "decisions");
  std::string text = decisions.empty() ? "no decision matches\n" : decision_table(decisions).render();
  if (const std::optional<double> before = json_number(parsed, "before"))
    text += "\nThere are older ones: --before " + format_number(before) + "\n";
  if (const std::string problem = json_text(parsed, "problem"); !problem.empty())
    text += "\nOnly records in memory are shown, the disk is unavailable: " + problem + "\n";
  return text;
}

Result<std::string> render_knobs(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  Table table(knob_columns("CGROUP"));
  const json::array& knobs = json_list(parsed, "knobs");
  for (const json::value& knob : knobs) add_rows(table, cgroup_of(knob), knob);
  return table.render() + compositions_of(knobs, cgroup_of) + failed_reverts_of(knobs, cgroup_of);
}

Result<std::string> render_why(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  std::string text = head_of(parsed) + "\n";
  const json::array& knobs = json_list(parsed, "knobs");
  Table table(knob_columns("TARGET"));
  for (const json::value& knob : knobs) add_rows(table, owner_of(knob), knob);
  text += knobs.empty() ? kNoStrategy
                        : table.render() + compositions_of(knobs, owner_of) + failed_reverts_of(knobs, owner_of);
  const json::array decisions = without_evictions(json_list(parsed, "decisions"));
  if (!decisions.empty()) text += "\n" + decision_table(decisions).render();
  text += hook_answers_of(json_list(parsed, "hooks"));
  return text + evictions_of(json_list(parsed, "evictions")) + events_of(json_list(parsed, "events"));
}

Result<std::string> render_modes(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  Table table({{"TARGET"}, {"MODE"}, {"CONFIGURED"}, {"SOURCE"}, {"UNTIL"}});
  const json::array& modes = json_list(parsed, "modes");
  static const json::value kNoMode(json::object{});
  const auto is_node = [](const json::value& mode) { return json_text(mode, "target") == "node"; };
  const auto found = std::find_if(modes.begin(), modes.end(), is_node);
  const json::value& node = found == modes.end() ? kNoMode : *found;
  for (const json::value& mode : modes) {
    const bool is_lowered = is_under_ceiling(mode, node);
    table.add({json_text(mode, "target"), mode_of(mode), text_or_dash(json_text(mode, "configured")),
               is_lowered ? "node (ceiling)" : source_of(mode), end_of(is_lowered ? node : mode)});
  }
  const std::string evictions = json_text(parsed, "evictions");
  return table.render() + (evictions.empty() ? "" : "\nEvictions, whatever the mode: " + evictions + "\n");
}

Result<std::string> render_mode(const std::string& answer) {
  const json::value mode = TRY(parse_object(answer));
  std::string text = json_text(mode, "target") + " is in " + json_text(mode, "mode");
  if (json_number(mode, "until")) text += " until " + time_of(mode, "until");
  return text + (json_member(mode, "override") != nullptr && json_text(mode, "override") != json_text(mode, "mode")
                     ? ", for the node has a mode below '" + json_text(mode, "override") + "'\n"
                     : "\n");
}

}  // namespace koord::ctl
