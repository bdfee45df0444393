// SPDX-License-Identifier: Apache-2.0
// koordctl takeover koordlet: sets what koordlet left in cgroups and resctrl to what the specs of the pods say.
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kTakeoverTarget = "/api/v1/takeover/koordlet";

void describe_takeover(po::options_description& options) {
  options.add_options()("dry-run", "list the values that differ from their base, and write nothing");
}

std::int64_t takeover_count(const json::value& answer, std::string_view name) {
  const json::value* count = member(answer, name);
  return count && count->is_int64() ? count->as_int64() : 0;
}

std::string takeover_subject(const json::value& line) {
  const std::string pod = text_of(line, "pod"), container = text_of(line, "container");
  return pod.empty() ? "-" : container.empty() ? pod : pod + " " + container;
}

void print_takeover(const json::value& answer, bool is_dry_run, std::ostream& out) {
  Table table(is_dry_run ? std::vector<Column>{{"CGROUP"}, {"POD"}, {"KNOB"}, {"FOUND"}, {"BASE"}, {"WHY"}}
                         : std::vector<Column>{{"CGROUP"}, {"POD"}, {"KNOB"}, {"FOUND"}, {"BASE"}, {"WHY"}, {"NOW"}, {"RESULT"}, {"PROBLEM"}});
  for (const json::value& line : array_of(answer, "leftovers")) {
    std::vector<std::string> row{text_of(line, "cgroup"), takeover_subject(line),        text_of(line, "knob"),
                                 text_of(line, "value"),  text_of(line, "base"), text_of(line, "why")};
    if (!is_dry_run)
      for (const char* name : {"now", "result", "problem"}) row.push_back(text_of(line, name));
    table.add(std::move(row));
  }
  if (!array_of(answer, "leftovers").empty()) out << table.render();
  out << array_of(answer, "leftovers").size() << " of " << takeover_count(answer, "read") << " values differ from their base";
  if (const std::int64_t held = takeover_count(answer, "held"); held > 0) out << "; " << held << " more are not listed, because strategies of this agent set them";
  out << (is_dry_run ? "; nothing was written\n" : "\n");
}

Result<void> run_takeover(const Invocation& invocation) {
  const bool is_dry_run = invocation.has("dry-run");
  const std::string text = TRY(is_dry_run ? ask_agent(invocation, kTakeoverTarget) : tell_agent(invocation, kTakeoverTarget));
  const json::value answer = TRY(parse_object(text));
  if (invocation.output == Output::json)
    invocation.out << text;
  else
    print_takeover(answer, is_dry_run, invocation.out);
  std::size_t failed = 0;
  for (const json::value& line : array_of(answer, "leftovers")) failed += !is_dry_run && text_of(line, "result") != "applied";
  if (failed == 0) return {};
  return invalid(std::to_string(failed) + " values could not be set to their base; see the column PROBLEM");
}

}  // namespace

const Command kTakeoverKoordlet{"takeover koordlet", "",
                                "Set values that koordlet left in cgroups and resctrl to their base, without undo; list them first with --dry-run.", describe_takeover, run_takeover};

}  // namespace koord::ctl
