// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/takeover_view.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

std::int64_t takeover_count(const json::value& answer, std::string_view name) {
  const json::value* count = json_member(answer, name);
  return count && count->is_int64() ? count->as_int64() : 0;
}

std::string takeover_subject(const json::value& line) {
  const std::string pod = json_text(line, "pod"), container = json_text(line, "container");
  return pod.empty() ? "-" : container.empty() ? pod : pod + " " + container;
}

Table takeover_table(const json::array& leftovers, bool is_dry_run) {
  std::vector<Column> columns{{"CGROUP"}, {"POD"}, {"KNOB"}, {"FOUND"}, {"BASE"}, {"WHY"}};
  if (!is_dry_run) columns.insert(columns.end(), {{"NOW"}, {"RESULT"}, {"PROBLEM"}});
  Table table(std::move(columns));
  for (const json::value& line : leftovers) {
    std::vector<std::string> row{json_text(line, "cgroup"), takeover_subject(line)};
    for (const char* name : {"knob", "value", "base", "why"}) row.push_back(json_text(line, name));
    if (!is_dry_run)
      for (const char* name : {"now", "result", "problem"}) row.push_back(json_text(line, name));
    table.add(std::move(row));
  }
  return table;
}

// Returns a text with the number of pods without a known spec. Their quotas could not be compared.
std::string uncompared_quotas(const json::value& answer) {
  const std::int64_t pods = takeover_count(answer, "podsWithoutSpec");
  if (pods == 0) return "";
  return (pods == 1 ? "the spec of 1 pod is" : "the specs of " + std::to_string(pods) + " pods are") +
         " not known (state.source is " + json_text(answer, "podSource") +
         "): cpu.max of pods and containers not compared; expected kubelet, apiserver or file\n";
}

}  // namespace

Result<std::string> render_takeover(const std::string& answer, bool is_dry_run) {
  const json::value parsed = TRY(parse_object(answer));
  const json::array& leftovers = json_list(parsed, "leftovers");
  std::string text = leftovers.empty() ? "" : takeover_table(leftovers, is_dry_run).render();
  text += std::to_string(leftovers.size()) + " of " + std::to_string(takeover_count(parsed, "read")) +
          " values differ from their base";
  if (const std::int64_t held = takeover_count(parsed, "held"); held > 0)
    text += "; " + std::to_string(held) + " more are not listed, because strategies of this agent set them";
  return text + (is_dry_run ? "; nothing was written\n" : "\n") + uncompared_quotas(parsed);
}

Result<void> takeover_result(const std::string& answer, bool is_dry_run) {
  const json::value parsed = TRY(parse_object(answer));
  std::vector<std::string> problems;
  if (const json::value* known = json_member(parsed, "podsKnown");
      known != nullptr && !json_flag(parsed, "podsKnown")) {
    const std::string reason = json_text(parsed, "podsProblem");
    problems.push_back("pods are not known yet" + (reason.empty() ? "" : " (" + reason + ")") +
                       ": only classes compared");
  }
  std::size_t failed = 0;
  for (const json::value& line : json_list(parsed, "leftovers"))
    failed += !is_dry_run && json_text(line, "result") != "applied";
  if (failed > 0)
    problems.push_back(std::to_string(failed) + " values could not be set to their base; see the column PROBLEM");
  if (problems.empty()) return {};
  return invalid(join(problems, "; "));
}

}  // namespace koord::ctl
