// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/interference_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"
#include "core/verdict/text.hpp"

namespace koord::ctl {
namespace {

constexpr std::size_t kMostSuspects = 3;  // without --output wide
constexpr const char* kIndent = "           ";

double known_or_nan(const json::value& object, const char* key) {
  return json_number(object, key).value_or(verdict::kUnknown);
}

std::string amount_of(const json::value& object, const char* key, std::string_view unit) {
  const double value = known_or_nan(object, key);
  return unit == "bytes" && value >= 0 ? format_bytes(value) : verdict::amount(value, unit);
}

verdict::Statistic statistic_of(const json::value& statistic) {
  return {json_text(statistic, "name"), json_text(statistic, "unit"), known_or_nan(statistic, "value"),
          known_or_nan(statistic, "baseline"), known_or_nan(statistic, "threshold")};
}

std::string suspect_name(const json::value& suspect) {
  const std::string kind = json_text(suspect, "kind"), name = json_text(suspect, "name");
  if (kind == "kernel") return "kernel threads";
  if (kind == "outside") return "node, outside pods";
  if (kind == "other") return "'" + name + "'";  // a plugin may write any text
  return name.empty() ? "a container that has ended" : name;
}

// Returns the usage of the resource in its unit: "ran 1.71 CPU, requests 0.50". For the cache it is the suspect's CPU
// usage.
std::string use_of(const json::value& suspect, const std::string& resource) {
  const auto usage = json_number(suspect, "usage"), request = json_number(suspect, "request");
  const bool is_cpu = resource == "cpu" || resource == "cache";
  const auto text = [&](double value) {
    if (!is_cpu) return format_bytes(value);
    return value < 1e6 ? fmt::format("{:.2f}", value) : verdict::figures(value);
  };
  std::string use;
  // The usage of the kernel and of processes outside of pods is unknown.
  if (usage && *usage > 0)
    use = is_cpu ? "ran " + text(*usage) + " CPU" : "used " + text(*usage) + (resource == "blkio" ? "/s" : "");
  if (request) use += (use.empty() ? "requests " : ", requests ") + text(*request);
  return use;
}

std::string excess_of(const json::value& suspect, const std::string& unit) {
  const auto excess = json_number(suspect, "excess");
  return excess ? (*excess < 0 ? "" : "+") + amount_of(suspect, "excess", unit) + " over quiet" : "";
}

std::string rows_of_suspects(const json::value& record, bool is_wide) {
  const std::string unit = json_text(record, "unit"), resource = json_text(record, "resource");
  const json::array& suspects = json_list(record, "suspects");
  const std::size_t shown = is_wide ? suspects.size() : std::min(suspects.size(), kMostSuspects);
  Table table({{""}, {"", true}, {"", true}, {""}, {""}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto share = json_number(suspects[i], "share");
    table.add({fmt::format("{}. {}", i + 1, suspect_name(suspects[i])), amount_of(suspects[i], "value", unit),
               share ? verdict::percent(*share) : "", use_of(suspects[i], resource), excess_of(suspects[i], unit)});
  }
  std::string rows = table.render().substr(1);  // without the empty title line
  if (shown < suspects.size()) rows += fmt::format("and {} more, shown by -o wide\n", suspects.size() - shown);
  return rows;
}

// Returns the other waits: "own threads 3.1 ms/s, own limits 0 ms/s, unexplained 1.2 ms/s"
std::string rest_of(const json::value& record) {
  const std::string unit = json_text(record, "unit");
  std::string rest;
  for (const auto& [key, title] : {std::pair("self", json_text(record, "resource") == "cpu" ? "own threads" : "own"),
                                   {"throttled", "own limits"},
                                   {"unexplained", "unexplained"}})
    if (json_number(record, key))
      rest += (rest.empty() ? "" : ", ") + std::string(title) + " " + amount_of(record, key, unit);
  return rest;
}

// Writes the title before the first line, and indents the other lines.
std::string under(std::string_view title, std::string_view lines) {
  std::string text;
  for (std::size_t end = 0; !lines.empty(); lines.remove_prefix(std::min(end + 1, lines.size()))) {
    end = std::min(lines.find('\n'), lines.size());
    text += text.empty() ? "  " + std::string(title) + std::string(9 - title.size(), ' ') : std::string(kIndent);
    text += std::string(lines.substr(0, end)) + "\n";
  }
  return text;
}

// Returns the statistics of other resources: "memory 0 refaults/s; disk vda 0.4 ms"
std::string other_resources(const json::value& record) {
  std::string text;
  const json::value& others = json_mapping(record, "others");
  if (!others.is_object()) return text;
  for (const auto& [key, finding] : others.as_object()) {
    std::string name(key);
    replace_control_characters(name);  // parse_object() does this for texts, but not for keys
    text += (text.empty() ? "" : "; ") + name + " ";
    text += finding.is_string() ? std::string(finding.as_string()) : json::serialize(finding);
  }
  return text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Returns "2026-01-02 14:02:11 - 14:02:41", or " - now" at the end while the verdict stands.
std::string span_of(const json::value& record) {
  const auto from = json_number(record, "from"), to = json_number(record, "to");
  const std::string begin = from ? format_wall_time(*from) : "-";
  if (json_text(record, "state") == "standing") return begin + " - now";
  const std::string end = to ? format_wall_time(*to) : "-";
  const std::size_t day = begin.find(' ');
  const bool is_same_day = day != std::string::npos && end.compare(0, day, begin, 0, day) == 0;
  return begin + " - " + (is_same_day ? end.substr(day + 1) : end);
}

std::string head_of_verdict(const json::value& record) {
  std::string head = span_of(record) + "  " + json_text(json_mapping(record, "victim"), "name") + "  " +
                     upper(json_text(record, "kind")) + "  resource " + json_text(record, "resource");
  const json::value& windows = json_mapping(record, "windows");
  if (json_number(windows, "seen").value_or(0) > 0)
    head += "  (" + format_number(json_number(windows, "over")) + " of " + format_number(json_number(windows, "seen")) +
            " windows)";
  if (json_text(record, "origin") == "third-party") head += "  by plugin " + json_text(record, "plugin");
  return head + "\n";
}

// Returns why no plugin judges; "" if a plugin does.
std::string silence_of(const json::value& judge) {
  const std::string plugin = json_text(judge, "plugin"), gate = json_text(judge, "gate");
  const std::string state = json_text(judge, "state"), reason = json_text(judge, "reason");
  if (state.empty() || state == "running") return "";
  if (state == "disabled")
    return "The feature gate " + gate + " is off, so " + plugin +
           " does not judge.\nTurn it on: --feature-gates=" + gate + "=true, or featureGates: {" + gate +
           ": true} in the configuration and SIGHUP.\n";
  if (state == "missing") return "The plugin " + plugin + " is not installed, so nothing is judged.\n";
  return plugin + " is " + state + (reason.empty() ? "" : ": " + reason) + "\n";
}

// Returns "Judged: cpu (exact). Not judged: blkio, cache; koordctl capabilities has the reasons."
std::string coverage_of(const json::array& resources) {
  std::string judged, others;
  for (const json::value& one : resources) {
    const std::string name = json_text(one, "resource"), method = json_text(one, "method");
    if (json_text(one, "state") == "supported")
      judged += (judged.empty() ? "" : ", ") + name + (method.empty() ? "" : " (" + method + ")");
    else
      others += (others.empty() ? "" : ", ") + name;
  }
  std::string text = judged.empty() ? "" : "Judged: " + judged + ".";
  if (!others.empty())
    text += (text.empty() ? "Not judged: " : " Not judged: ") + others + "; koordctl capabilities has the reasons.";
  return text.empty() ? "" : text + "\n";
}

// Returns "Rule: built in."
std::string rule_of(const json::value& answer) {
  const std::string rule = json_text(answer, "rule");
  return rule.empty() ? "" : "Rule: " + rule + ".\n";
}

std::string without_verdict(const json::value& answer) {
  const std::string silence = silence_of(json_mapping(answer, "judge"));
  const std::string pod = json_text(answer, "pod");
  std::string text = silence;
  if (silence.empty())
    text = json_flag(answer, "history") ? "No verdict matches.\n"
           : pod.empty()                ? "Nothing holds a container up now.\n"
                                        : "Nothing holds " + pod + " up now.\n";
  if (const auto ended = json_number(answer, "ended"); ended && *ended > 0 && !json_flag(answer, "history"))
    text += "Verdicts that have ended: " + format_number(ended) + "; --since 1h shows those of the last hour.\n";
  return silence.empty() ? text + coverage_of(json_list(answer, "resources")) + rule_of(answer) : text;
}

}  // namespace

std::string render_verdict(const json::value& record, bool is_wide) {
  const verdict::Statistic statistic = statistic_of(json_mapping(record, "statistic"));
  std::string text = head_of_verdict(record) + under("felt", verdict::felt(statistic));
  text += under("caused", rows_of_suspects(record, is_wide) + rest_of(record));
  text += under("not it", other_resources(record));
  const std::string note = json_text(record, "note");
  text += under("method", json_text(record, "method") + (note.empty() ? "" : ": " + note));
  if (const std::string why = json_text(record, "endReason"); !why.empty()) text += under("ended", why);
  if (is_wide)
    text += under("source",
                  "plugin " + json_text(record, "plugin") + ", verdict " + format_number(json_number(record, "id")));
  return text;
}

Result<std::string> render_interference(const std::string& answer, bool is_wide) {
  const json::value parsed = TRY(parse_object(answer));
  const json::array& verdicts = json_list(parsed, "verdicts");
  if (verdicts.empty()) return without_verdict(parsed);
  std::string text;
  for (const json::value& record : verdicts) text += (text.empty() ? "" : "\n") + render_verdict(record, is_wide);
  if (is_wide && !rule_of(parsed).empty()) text += "\n" + rule_of(parsed);
  if (json_flag(parsed, "hasOlder")) text += "\nOlder verdicts are left out: --limit, --until\n";
  return text;
}

std::string brief_verdict(const json::value& record) {
  if (json_text(record, "state") != "standing") return "";
  const json::value& statistic = json_mapping(record, "statistic");
  const auto value = json_number(statistic, "value");
  const std::string unit = json_text(statistic, "unit");
  std::string text = (json_text(record, "kind").starts_with("self") ? "own " : "") + json_text(record, "resource");
  if (value && verdict::is_share_of_time(statistic_of(statistic)))
    return text + " " + format_percent(std::min(*value, 1.0));
  if (value && (unit == "ratio" || unit == "seconds/second"))
    return text + " " + (*value < 1e4 ? format_percent(value) : verdict::percent(*value));
  return value ? text + " " + amount_of(statistic, "value", unit) : text;
}

Result<std::string> render_matrix(const std::string& answer) {
  const json::value parsed = TRY(parse_object(answer));
  const json::array& matrices = json_list(parsed, "matrices");
  std::string text;
  for (const json::value& matrix : matrices) {
    const std::string unit = json_text(matrix, "unit");
    Table table({{"VICTIM"}, {"WAITED FOR"}, {"WAIT", true}});
    for (const json::value& pair : json_list(matrix, "pairs"))
      table.add({json_text(json_mapping(pair, "victim"), "name"), suspect_name(json_mapping(pair, "culprit")),
                 amount_of(pair, "value", unit)});
    const auto from = json_number(matrix, "from"), to = json_number(matrix, "to");
    text += (text.empty() ? "" : "\n") + std::string("resource ") + json_text(matrix, "resource") + ", " +
            (from ? format_wall_time(*from) : "-") + ", window " +
            (from && to ? format_seconds(*to - *from) : "unknown") + ", by " + json_text(matrix, "plugin") + "\n";
    text += table.empty() ? "no waits\n" : table.render();
    if (const auto omitted = json_number(matrix, "omitted"); omitted && *omitted > 0)
      text += "and " + format_number(omitted) + " shorter pairs\n";
  }
  if (!text.empty()) return text;
  const std::string silence = silence_of(json_mapping(parsed, "judge"));
  return silence.empty() ? "No window yet.\n" : silence;
}

}  // namespace koord::ctl
