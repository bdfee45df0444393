// SPDX-License-Identifier: Apache-2.0
// /api/v1/report: the objects that the agent writes about this node, and the results of its writes.
#include "core/api/json_answer.hpp"
#include "core/api/report_source.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

void add_account(json::object& object, const report::Account& account, const Clock& clock) {
  json::object outcomes;
  for (const auto& [outcome, count] : account.outcomes) outcomes[name_of(outcome)] = count;
  object["outcomes"] = std::move(outcomes);
  object["problem"] = account.problem;
  object["leftOut"] = json_strings(account.left_out);
  if (!account.left_out.empty()) object["leftOutWhy"] = account.left_out_why;
  if (account.accepted) object["accepted"] = wall_seconds(clock, *account.accepted);
}

// Returns the NodeMetric with its status computed now.
json::object node_metric(const ReportSource& reporting, const Clock& clock) {
  const report::NodeMetricReport now = reporting.compute();
  const auto view = reporting.node_metric();
  json::object object{{"status", as_json(to_json(now.status))},
                      {"problems", json_strings(now.problems)},
                      {"refusal", now.refusal},
                      {"written", view.has_value()}};
  if (!view) return object;
  object["exists"] = view->exists;
  object["missing"] = view->missing;
  object["replaced"] = view->replaced;
  object["specProblems"] = json_strings(view->spec_problems);
  add_account(object, view->account, clock);
  return object;
}

json::object direct(const std::optional<report::DirectReporter::View>& view, const Clock& clock) {
  json::object object{{"written", view.has_value()}};
  if (!view) return object;
  object["manager"] = view->manager;
  object["problem"] = view->problem;
  object["outcomes"] = {{"written", view->whole + view->unchanged},
                        {"unchanged", view->unchanged},
                        {"refused", view->refused},
                        {"failed", view->failed},
                        {"unknown", view->unfit}};
  object["bytes"] = view->bytes;
  object["lookups"] = view->lookups;
  if (view->accepted) object["accepted"] = wall_seconds(clock, *view->accepted);
  return object;
}

json::object kept(const std::optional<report::ObjectReporter::View>& view, const Clock& clock) {
  json::object object{{"written", view.has_value()}};
  if (!view) return object;
  add_account(object, view->account, clock);
  if (!view->problem.empty()) object["unknown"] = view->problem;
  if (view->wanted) object["wanted"] = as_json(*view->wanted);
  return object;
}

}  // namespace

http::Response get_report(const ApiSources& sources, const http::Request&) {
  const ReportSource& reporting = *sources.reporting;
  const Clock& clock = sources.services.clock;
  json::object topology = kept(reporting.topology(), clock);
  if (const auto pools = reporting.pools()) topology["problems"] = json_strings(pools->problems);
  return json_answer({{"NodeMetric", node_metric(reporting, clock)},
                      {"direct", direct(reporting.direct(), clock)},
                      {"NodeResourceTopology", std::move(topology)},
                      {"Device", kept(reporting.devices(), clock)}});
}

}  // namespace koord::api
