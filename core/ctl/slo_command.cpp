// SPDX-License-Identifier: Apache-2.0
// koordctl slo: shows the effective NodeSLO, rejected figures and the origin of a value.
#include "core/base/url.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/table.hpp"

namespace koord::ctl {
namespace {

void describe_slo(po::options_description& options) {
  options.add_options()("explain,e", po::value<std::string>()->value_name("FIELD"),
                        "show the origin of this field's value; FIELD is its path or the end of it, such as memoryQOS.wmarkRatio")(
      "pod,p", po::value<std::string>()->value_name("POD"), "with --explain: the value for this pod (NAMESPACE/NAME, NAME or uid), with its annotations");
}

std::string effective_value_of(const json::value& object) {
  const json::value* value = member(object, "value");
  return value ? json::serialize(*value) : "-";
}

void print_slo(const json::value& answer, std::ostream& out) {
  Table table({{"FIELD"}, {"VALUE"}, {"FROM"}});
  for (const json::value& field : array_of(answer, "fields")) table.add({text_of(field, "field"), effective_value_of(field), text_of(field, "from")});
  out << table.render();
  const json::array& problems = array_of(answer, "problems");
  if (problems.empty()) return;
  Table wrong({{"REJECTED"}, {"FOUND"}, {"EXPECTED"}, {"INACTIVE FEATURE"}});
  for (const json::value& problem : problems) {
    const std::string inactive = text_of(problem, "inactive");
    wrong.add({text_of(problem, "field"), text_of(problem, "found"), text_of(problem, "expected"), inactive.empty() ? "-" : inactive});
  }
  out << "\n" << wrong.render();
}

void print_explanation(const json::value& answer, std::ostream& out) {
  out << text_of(answer, "field") << " is " << effective_value_of(answer) << "\n"
      << text_of(answer, "meaning") << "; " << text_of(answer, "expected") << "\n\n";
  Table table({{""}, {"SOURCE"}, {"VALUE"}, {"NOTE"}});
  for (const json::value& layer : array_of(answer, "layers"))
    table.add({flag_of(layer, "counts") ? "*" : "", text_of(layer, "title"), effective_value_of(layer), text_of(layer, "note")});
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

const Command kSlo{"slo", "", "Show the effective NodeSLO, rejected figures, features inactive because of them, and the origin of a value.", describe_slo, run_slo};

}  // namespace koord::ctl
