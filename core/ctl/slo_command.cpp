// SPDX-License-Identifier: Apache-2.0
// koordctl slo: shows the effective NodeSLO, rejected fields and the origin of a value.
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

void describe_slo(po::options_description& options) {
  options.add_options()(
      "explain,e", po::value<std::string>()->value_name("FIELD"),
      "show the origin of this field's value; FIELD is its path or the end of it, such as memoryQOS.wmarkRatio")(
      "pod,p", po::value<std::string>()->value_name("POD"),
      "with --explain: the value for this pod (NAMESPACE/NAME, NAME or uid), with its annotations");
}

std::string effective_value_of(const json::value& object) {
  const json::value* value = json_member(object, "value");
  return value ? json::serialize(*value) : "-";
}

void print_slo(const json::value& answer, std::ostream& out) {
  Table table({{"FIELD"}, {"VALUE"}, {"FROM"}});
  for (const json::value& field : json_list(answer, "fields"))
    table.add({json_text(field, "field"), effective_value_of(field), json_text(field, "from")});
  out << table.render();
  const json::array& problems = json_list(answer, "problems");
  if (problems.empty()) return;
  Table wrong({{"REJECTED"}, {"FOUND"}, {"EXPECTED"}, {"INACTIVE FEATURE"}});
  for (const json::value& problem : problems) {
    const std::string inactive = json_text(problem, "inactive");
    wrong.add({json_text(problem, "field"), json_text(problem, "found"), json_text(problem, "expected"),
               inactive.empty() ? "-" : inactive});
  }
  out << "\n" << wrong.render();
}

void print_explanation(const json::value& answer, std::ostream& out) {
  out << json_text(answer, "field") << " is " << effective_value_of(answer) << "\n"
      << json_text(answer, "meaning") << "; " << json_text(answer, "expected") << "\n\n";
  Table table({{""}, {"SOURCE"}, {"VALUE"}, {"NOTE"}});
  for (const json::value& layer : json_list(answer, "layers"))
    table.add({json_flag(layer, "counts") ? "*" : "", json_text(layer, "title"), effective_value_of(layer),
               json_text(layer, "note")});
  out << table.render();
}

std::string slo_target_of(const Invocation& invocation) {
  if (!invocation.has("explain")) return "/api/v1/slo";
  std::string target = "/api/v1/slo/explain?field=" + percent_encode(invocation.text("explain"));
  if (invocation.has("pod")) target += "&pod=" + percent_encode(invocation.text("pod"));
  return target;
}

Result<void> run_slo(const Invocation& invocation) {
  if (invocation.has("pod") && !invocation.has("explain")) return invalid("--pod needs --explain FIELD");
  std::string text = TRY(ask_agent(invocation, slo_target_of(invocation)));
  if (invocation.output == Output::json) {
    invocation.out << text;
    return {};
  }
  json::value answer = TRY(parse_object(text));
  if (invocation.has("explain"))
    print_explanation(answer, invocation.out);
  else
    print_slo(answer, invocation.out);
  return {};
}

}  // namespace

const Command kSlo{
    "slo", "",
    "Show the effective NodeSLO, rejected fields, features inactive because of them, and the origin of a value.",
    describe_slo, run_slo};

}  // namespace koord::ctl
