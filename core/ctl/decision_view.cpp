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

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

// "lost to com.acme.quota", "failed: cannot write …"
std::string result_of(const json::value& decision) {
  std::string result = text_of(decision, "result");
  const std::string problem = text_of(decision, "problem"), winner = text_of(decision, "winner");
  if (result == "lost" && !winner.empty()) result += " to " + winner;
  if (result == "lost" && text_of(decision, "mode") == "shadow") result += ", in shadow";
  return problem.empty() ? result : result + ": " + problem;
}

// "the node is busy (usage=7.3, threshold=6.5)"
std::string why_of(const json::value& decision) {
  std::string inputs;
  if (const json::value* given = member(decision, "inputs"); given != nullptr && given->is_object()) {
    for (const auto& [name, value] : given->as_object()) {
      inputs += (inputs.empty() ? " (" : ", ") + std::string(name) + "=";
      inputs += value.is_string() ? std::string(value.as_string()) : json::serialize(value);
    }
  }
  return text_of(decision, "reason") + (inputs.empty() ? "" : inputs + ")");
}

std::string pod_of(const json::value& object) {
  const json::value& pod = object_of(object, "pod");
  const std::string name = text_of(pod, "name");
  if (name.empty()) return "-";
  const std::string container = text_of(object, "container");
  return text_of(pod, "namespace") + "/" + name + (container.empty() ? "" : "/" + container);
}

// "shadow", "shadow (disabled)": of a strategy that does not run.
std::string mode_of(const json::value& mode) {
  const std::string state = text_of(mode, "state");
  return text_of(mode, "mode") + (state.empty() || state == "running" ? "" : " (" + state + ")");
}

std::string time_of(const json::value& object, const char* key) {
  const std::optional<double> time = number_of(object, key);
  return time ? format_wall_time(*time) : "-";
}

std::string value_of(const json::value& knob) {
  const std::string problem = text_of(knob, "problem");
  return problem.empty() ? text_of(knob, "value") : problem;
}

// "20000 100000", "scale 1.5", "cap 50000 100000"
std::string intent_of(const json::value& intent) {
  const std::string role = text_of(intent, "role"), wanted = text_of(intent, "wanted");
  return role.empty() || role == "set" || wanted.empty() ? wanted : role + " " + wanted;
}

// "base 100000 (limit 1) × 1.5 (qos-cpu-burst), no cap": the parts without the value.
std::string parts_of(const json::value& decision) {
  const std::string text = text_of(decision, "composition");
  const std::size_t equals = text.find(" = ");
  return equals == std::string::npos ? "" : text.substr(equals + 3);
}

// The owner of a knob: the pod's container, the pod itself, or the cgroup of its class.
std::string owner_of(const json::value& knob) {
  const std::string container = text_of(knob, "container"), level = text_of(knob, "level");
  if (!container.empty()) return container;
  return level == "qos" ? "class " + text_of(knob, "cgroup") : level;
}

// "150000 100000": the value of a composition, which begins with the knob's name.
std::string composed_value_of(const json::value& knob) {
  const std::string text = text_of(knob, "composition");
  const std::size_t start = text.find(' '), equals = text.find(" = ");
  return start == std::string::npos || equals == std::string::npos || equals <= start ? "" : text.substr(start + 1, equals - start - 1);
}

// Why a cap or floor that is applied changes nothing; empty: it binds, or it is the value.
std::string idle_bound_of(const json::value& knob, const json::value& intent) {
  const std::string role = text_of(intent, "role"), value = composed_value_of(knob);
  if ((role != "cap" && role != "floor") || text_of(intent, "result") != "applied") return "";
  for (const json::value& part : array_of(knob, "parts")) {
    const bool is_its = text_of(part, "role") == role && text_of(part, "plugin") == text_of(intent, "plugin") && text_of(part, "source").empty();
    if (!is_its || flag_of(part, "binds") || text_of(part, "value") == value) continue;
    if (text_of(knob, "knob") == "cpuset.cpus") return "; the set is already smaller";
    return role == "cap" ? "; the value is already lower" : "; the value is already higher";
  }
  return "";
}

// A row for each intent; the first one has the knob's own cells, too.
void add_rows(Table& table, const std::string& owner, const json::value& knob) {
  static const json::value kNoIntent(json::object{});
  const bool is_held = flag_of(knob, "held");
  std::vector<std::string> cells{owner, text_of(knob, "knob"), value_of(knob), is_held ? text_of(knob, "original") : "-",
                                 is_held ? or_dash(text_of(knob, "holder")) : "-"};
  const json::array& intents = array_of(knob, "intents");
  std::vector<const json::value*> rows;
  for (const json::value& intent : intents) rows.push_back(&intent);
  if (rows.empty()) rows.push_back(&kNoIntent);
  for (const json::value* intent : rows) {
    cells.resize(5);
    for (const std::string& text :
         {text_of(*intent, "plugin"), intent_of(*intent), result_of(*intent), why_of(*intent) + idle_bound_of(knob, *intent)})
      cells.push_back(or_dash(text));
    table.add(cells);
    cells.assign(5, "");
  }
}

std::vector<Column> knob_columns(const char* owner) {
  return {{owner}, {"KNOB"}, {"NOW"}, {"ORIGINAL"}, {"HELD BY"}, {"STRATEGY"}, {"INTENT"}, {"RESULT"}, {"WHY"}};
}

// The knob, or the kind of a decision that is of no knob.
std::string knob_or_kind(const json::value& decision) {
  const std::string knob = text_of(decision, "knob"), kind = text_of(decision, "kind");
  return or_dash(knob.empty() && kind != "knob" ? kind : knob);
}

Table decision_table(const json::array& decisions) {
  Table table({{"NUMBER", true}, {"TIME"}, {"STRATEGY"}, {"POD"}, {"CGROUP"}, {"KNOB"}, {"BEFORE"}, {"INTENT"}, {"RESULT"}, {"WHY"}, {"PARTS"}});
  for (const json::value& decision : decisions)
    table.add({format_number(number_of(decision, "number")), time_of(decision, "time"), or_dash(text_of(decision, "plugin")), pod_of(decision),
               or_dash(text_of(decision, "cgroup")), knob_or_kind(decision), or_dash(text_of(decision, "before")),
               or_dash(intent_of(decision)), result_of(decision), why_of(decision), or_dash(parts_of(decision))});
  return table;
}

// A line for each composed value.
std::string compositions_of(const json::array& knobs, std::string (*owner)(const json::value&)) {
  std::string lines;
  for (const json::value& knob : knobs)
    if (const std::string text = text_of(knob, "composition"); !text.empty()) lines += "  " + owner(knob) + ": " + text + "\n";
  return lines.empty() ? "" : "\nComposed values:\n" + lines;
}

// A line for each knob that keeps a value because the kernel refused its original.
std::string failed_reverts_of(const json::array& knobs, std::string (*owner)(const json::value&)) {
  std::string lines;
  for (const json::value& knob : knobs)
    if (const std::string problem = text_of(knob, "revertProblem"); !problem.empty())
      lines += "  " + owner(knob) + ": " + text_of(knob, "knob") + " of " + or_dash(text_of(knob, "holder")) + " to '" + text_of(knob, "original") +
               "': " + problem + "\n";
  return lines.empty() ? "" : "\nReverts that failed, tried again each second:\n" + lines;
}

std::string cgroup_of(const json::value& knob) {
  const std::string cgroup = text_of(knob, "cgroup");
  return cgroup.empty() ? "node" : cgroup;
}

// Evictions of one pod; its name is in the heading.
std::string evictions_of(const json::array& decisions) {
  if (decisions.empty()) return "";
  Table table({{"NUMBER", true}, {"TIME"}, {"STRATEGY"}, {"RESULT"}, {"WHY"}});
  for (const json::value& decision : decisions)
    table.add({format_number(number_of(decision, "number")), time_of(decision, "time"), or_dash(text_of(decision, "plugin")),
               result_of(decision), why_of(decision)});
  return "\nConsidered for eviction:\n" + table.render();
}

json::array without_evictions(const json::array& decisions) {
  json::array kept;
  for (const json::value& decision : decisions)
    if (text_of(decision, "kind") != "eviction") kept.push_back(decision);
  return kept;
}

// "cpu.max", with a part that has no effect: "cpu.mx, cpu.max; 'cpu.mx' is neither a knob nor a strategy: ignored"
std::string hands_off_of(const json::value& pod) {
  const std::string annotation = text_of(pod, "handsOff");
  const json::array& unknown = array_of(pod, "handsOffUnknown");
  const auto name_at = [&](std::size_t i) { return unknown[i].is_string() ? std::string(unknown[i].get_string()) : std::string(); };
  if (unknown.size() == 1 && name_at(0) == annotation) return "'" + annotation + "', which is neither \"true\", a knob nor a strategy: ignored";
  std::string text = annotation;
  for (std::size_t i = 0; i < unknown.size(); ++i) text += "; '" + name_at(i) + "' is neither a knob nor a strategy: ignored";
  return text;
}

std::string head_of(const json::value& answer) {
  const json::value& pod = object_of(answer, "pod");
  std::string text = text_of(pod, "namespace") + "/" + text_of(pod, "name");
  if (const std::string qos = text_of(pod, "qosClass"); !qos.empty()) text += ", " + qos;
  if (const std::string cgroup = text_of(pod, "cgroup"); !cgroup.empty()) text += ", in " + cgroup;
  if (flag_of(pod, "ended")) text += ", has ended";
  text += "\n";
  if (const json::value* annotation = member(pod, "handsOff"); annotation != nullptr) text += "The pod says hands off: " + hands_off_of(pod) + "\n";
  if (flag_of(answer, "nodeHandsOff")) text += "All strategies of the node are switched off; see koordctl mode\n";
  return text;
}

std::string events_of(const json::array& events) {
  if (events.empty()) return "";
  Table table({{"TIME"}, {"SOURCE"}, {"EVENT"}, {"WHY"}});
  for (const json::value& event : events) {
    const std::string plugin = text_of(event, "plugin");
    table.add({time_of(event, "time"), plugin.empty() ? "host" : plugin, text_of(event, "what"), text_of(event, "why")});
  }
  return "\n" + table.render();
}

// The node's ceiling gives the strategy a lower mode than its own setting.
bool is_under_ceiling(const json::value& mode, const json::value& node) {
  if (text_of(mode, "target") == text_of(node, "target") || member(node, "override") == nullptr) return false;
  std::string own = text_of(mode, "override");
  if (own.empty()) own = text_of(mode, "configured");
  if (own.empty()) own = text_of(node, "configured");
  return own != text_of(mode, "mode");
}

// An override without an end holds until an operator, or the agent's end, lifts it.
std::string end_of(const json::value& mode) {
  return member(mode, "override") != nullptr && member(mode, "until") == nullptr ? "until lifted" : time_of(mode, "until");
}

std::string source_of(const json::value& mode) {
  if (member(mode, "override") != nullptr) return text_of(mode, "by").empty() ? "an operator" : text_of(mode, "by");
  return member(mode, "configured") != nullptr ? "configuration" : "node";
}

}  // namespace

Result<std::string> render_decisions(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  const json::array& decisions = array_of(parsed, "decisions");
  std::string text = decisions.empty() ? "no decision matches\n" : decision_table(decisions).render();
  if (const std::optional<double> before = number_of(parsed, "before"))
    text += "\nThere are older ones: --before " + format_number(before) + "\n";
  if (const std::string problem = text_of(parsed, "problem"); !problem.empty())
    text += "\nOnly records in memory are shown, the disk is unavailable: " + problem + "\n";
  return text;
}

Result<std::string> render_knobs(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  Table table(knob_columns("CGROUP"));
  const json::array& knobs = array_of(parsed, "knobs");
  for (const json::value& knob : knobs) add_rows(table, cgroup_of(knob), knob);
  return table.render() + compositions_of(knobs, cgroup_of) + failed_reverts_of(knobs, cgroup_of);
}

Result<std::string> render_why(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  std::string text = head_of(parsed) + "\n";
  const json::array& knobs = array_of(parsed, "knobs");
  Table table(knob_columns("TARGET"));
  for (const json::value& knob : knobs) add_rows(table, owner_of(knob), knob);
  text += knobs.empty() ? kNoStrategy : table.render() + compositions_of(knobs, owner_of) + failed_reverts_of(knobs, owner_of);
  const json::array decisions = without_evictions(array_of(parsed, "decisions"));
  if (!decisions.empty()) text += "\n" + decision_table(decisions).render();
  return text + evictions_of(array_of(parsed, "evictions")) + events_of(array_of(parsed, "events"));
}

Result<std::string> render_modes(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  Table table({{"TARGET"}, {"MODE"}, {"CONFIGURED"}, {"SOURCE"}, {"UNTIL"}});
  const json::array& modes = array_of(parsed, "modes");
  static const json::value kNoMode(json::object{});
  const auto is_node = [](const json::value& mode) { return text_of(mode, "target") == "node"; };
  const auto found = std::find_if(modes.begin(), modes.end(), is_node);
  const json::value& node = found == modes.end() ? kNoMode : *found;
  for (const json::value& mode : modes) {
    const bool is_lowered = is_under_ceiling(mode, node);
    table.add({text_of(mode, "target"), mode_of(mode), or_dash(text_of(mode, "configured")), is_lowered ? "node (ceiling)" : source_of(mode),
               end_of(is_lowered ? node : mode)});
  }
  const std::string evictions = text_of(parsed, "evictions");
  return table.render() + (evictions.empty() ? "" : "\nEvictions, whatever the mode: " + evictions + "\n");
}

Result<std::string> render_mode(const std::string& answer) {
  const json::value mode = TRY(parse_object(answer));
  std::string text = text_of(mode, "target") + " is in " + text_of(mode, "mode");
  if (number_of(mode, "until")) text += " until " + time_of(mode, "until");
  return text + (member(mode, "override") != nullptr && text_of(mode, "override") != text_of(mode, "mode")
                     ? ", for the node has a mode below '" + text_of(mode, "override") + "'\n"
                     : "\n");
}

}  // namespace koord::ctl
