// SPDX-License-Identifier: Apache-2.0
#include "core/api/wait_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/api/json_answer.hpp"
#include "core/api/latest_values.hpp"
#include "core/api/verdict_json.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

struct WaitPair {
  metric::Labels victim;
  std::string culprit, kind;
  double value = 0;
  Time time{};
};

// The pairs by plugin and resource.
using WaitMatrices = std::map<std::pair<std::string, std::string>, std::vector<WaitPair>>;

WaitMatrices read_matrices(const ApiSources& sources, const MatrixRequest& request) {
  WaitMatrices matrices;
  const Time now = sources.services.clock.now();
  const MaxAge max_age = two_periods(sources.plugins());
  sources.services.metrics.for_each_series([&](const metric::SeriesView& series) {
    if (series.desc.name != kWaitsFor || series.desc.type == metric::Type::histogram) return;
    if (!(series.value > 0) || now - series.time > max_age(series.owner)) return;
    const std::string resource(verdict::label_of(series.own_labels, "resource"));
    if (request.resource && resource != name_of(*request.resource)) return;
    if (!request.victim.accepts(series.subject_labels, verdict::name_of_subject(series.subject_labels))) return;
    matrices[{std::string(series.owner), resource}].push_back(
        {series.subject_labels, std::string(verdict::label_of(series.own_labels, "culprit")),
         std::string(verdict::label_of(series.own_labels, "kind")), series.value, series.time});
  });
  return matrices;
}

json::object pair_json(const WaitPair& pair) {
  return {{"victim", json_of_subject(pair.victim, verdict::name_of_subject(pair.victim))},
          {"culprit", {{"name", pair.culprit}, {"kind", pair.kind}}},
          {"value", pair.value}};
}

Duration period_of(const std::vector<host::PluginStatus>& plugins, std::string_view id) {
  for (const host::PluginStatus& plugin : plugins)
    if (plugin.id == id) return plugin.period;
  return {};
}

json::object matrix_json(const ApiSources& sources, std::string_view plugin, std::string_view resource,
                         std::vector<WaitPair> pairs, std::size_t limit) {
  const auto by_wait = [](const WaitPair& a, const WaitPair& b) { return a.value > b.value; };
  std::stable_sort(pairs.begin(), pairs.end(), by_wait);
  json::array shown;
  for (std::size_t i = 0; i < std::min(limit, pairs.size()); ++i) shown.push_back(pair_json(pairs[i]));
  Time end = pairs.front().time;
  for (const WaitPair& pair : pairs) end = std::max(end, pair.time);
  const Clock& clock = sources.services.clock;
  return {{"plugin", plugin},
          {"resource", resource},
          {"unit", "seconds/second"},
          {"from", wall_seconds(clock, end - period_of(sources.plugins(), plugin))},
          {"to", wall_seconds(clock, end)},
          {"omitted", pairs.size() - shown.size()},
          {"pairs", std::move(shown)}};
}

}  // namespace

json::array matrices_json(const ApiSources& sources, const MatrixRequest& request) {
  json::array matrices;
  for (auto& [key, pairs] : read_matrices(sources, request))
    matrices.push_back(matrix_json(sources, key.first, key.second, std::move(pairs), request.limit));
  return matrices;
}

}  // namespace koord::api
