// SPDX-License-Identifier: Apache-2.0
#include "core/api/verdict_json.hpp"

#include <cmath>

#include "core/api/json_answer.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

void add_known(json::object& object, std::string_view key, double value) {
  if (std::isfinite(value)) object[key] = value;
}

json::object statistic_json(const verdict::Statistic& statistic) {
  json::object object{{"name", statistic.name}, {"unit", statistic.unit}};
  add_known(object, "value", statistic.value);
  add_known(object, "baseline", statistic.baseline);
  add_known(object, "threshold", statistic.threshold);
  return object;
}

json::object suspect_json(const verdict::Suspect& suspect) {
  json::object object = json_of_subject(suspect.subject.labels, suspect.name);
  object["kind"] = name_of(suspect.kind);
  add_known(object, "value", suspect.value);
  add_known(object, "share", suspect.share);
  add_known(object, "excess", suspect.excess);
  add_known(object, "usage", suspect.usage);
  add_known(object, "request", suspect.request);
  return object;
}

}  // namespace

json::object json_of_subject(const metric::Labels& labels, std::string_view name) {
  json::object object{{"name", name}}, pod;
  for (const auto& [label, value] : labels) {
    if (label == "container_name") object["container"] = value;
    if (label == "pod_uid") pod["uid"] = value;
    if (label == "pod_namespace") pod["namespace"] = value;
    if (label == "pod_name") pod["name"] = value;
  }
  if (!pod.empty()) object["pod"] = std::move(pod);
  return object;
}

json::object json_of(const verdict::Record& record, const Clock& clock) {
  json::array suspects;
  for (const verdict::Suspect& suspect : record.suspects) suspects.push_back(suspect_json(suspect));
  json::object object{{"id", record.id},
                      {"state", record.ended ? "ended" : "standing"},
                      {"plugin", record.plugin},
                      {"origin", name_of(record.origin)},
                      {"victim", json_of_subject(record.victim.labels, record.victim_name)},
                      {"kind", name_of(record.kind)},
                      {"resource", name_of(record.resource)},
                      {"statistic", statistic_json(record.statistic)},
                      {"unit", record.amount_unit},
                      {"suspects", std::move(suspects)},
                      {"others", json_map(record.others)},
                      {"method", name_of(record.method)},
                      {"windows", {{"over", record.windows_over}, {"seen", record.windows_seen}}},
                      {"from", wall_seconds(clock, record.from)},
                      {"to", wall_seconds(clock, record.to)},
                      {"since", wall_seconds(clock, record.since)},
                      {"note", record.note}};
  add_known(object, "self", record.own);
  add_known(object, "throttled", record.throttled);
  add_known(object, "unexplained", record.unexplained);
  if (!record.ended) return object;
  object["ended"] = wall_seconds(clock, *record.ended);
  object["endReason"] = record.why_ended;
  return object;
}

}  // namespace koord::api
