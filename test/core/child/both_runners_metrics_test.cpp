// SPDX-License-Identifier: Apache-2.0
// koord.metrics/1 with valid and invalid arguments, in both runners.
#include <cmath>
#include <limits>
#include <sstream>

#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

koord_metric_desc desc(std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  return {
      sizeof(koord_metric_desc), type, KOORD_METRIC_EXPORT, 0, str(name), str("cores"), str("Help."), 1e-4, nullptr};
}

koord_status define(const Side& side, const koord_metric_desc& desc) {
  std::uint32_t metric = 0;
  return side.call(&koord_svc_metrics::define, &desc, &metric);
}

std::uint64_t series(const Side& side, std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  const koord_metric_desc wanted = desc(name, type);
  std::uint32_t metric = 0;
  std::uint64_t series = 0;
  REQUIRE(side.call(&koord_svc_metrics::define, &wanted, &metric) == KOORD_OK);
  REQUIRE(side.call(&koord_svc_metrics::series, metric, KOORD_NO_SUBJECT, nullptr, 0, 0, &series) == KOORD_OK);
  return series;
}

koord_status append(const Side& side, double value, std::uint64_t series, std::int64_t ahead_ns = 0) {
  const koord_point point{series, value};
  const std::uint64_t now = side.call(&koord_svc_clock::now_ns);
  return side.call(&koord_svc_metrics::append, now + static_cast<std::uint64_t>(ahead_ns), &point, 1, sizeof point);
}

koord_query query_of(std::string_view metric) {
  koord_query query = {};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = str(metric);
  return query;
}

Reply aggregate(const Side& side, const std::function<void(koord_query&)>& change = {}, std::uint32_t cap = 4) {
  koord_query query = query_of("acme_a");
  if (change) change(query);
  koord_agg_row rows[4] = {};
  std::uint32_t need = 77;
  const koord_status status = side.call(&koord_svc_metrics::aggregate, &query, rows, cap, sizeof rows[0], &need);
  std::ostringstream answer;
  answer << need << " row";
  for (std::uint32_t i = 0; status == KOORD_OK && i < need; ++i)
    answer << ": " << rows[i].value << " of " << rows[i].count;
  return {status, answer.str()};
}

Reply samples(const Side& side, std::string_view metric, std::uint32_t cap = 4) {
  const koord_query query = query_of(metric);
  koord_sample found[4] = {};
  std::uint32_t need = 77;
  const koord_status status = side.call(&koord_svc_metrics::samples, &query, found, cap, sizeof found[0], &need);
  std::ostringstream answer;
  answer << need << " samples";
  for (std::uint32_t i = 0; status == KOORD_OK && i < need; ++i)
    answer << ", " << found[i].value << " of series " << found[i].series;
  return {status, answer.str()};
}

// Appends a batch of one histogram with the bounds 1 and 2.
koord_status append_histogram(const Side& side, std::vector<std::uint64_t> cumulative) {
  const double bounds[] = {1, 2};
  koord_metric_desc wanted = desc("acme_h", KOORD_HISTOGRAM);
  wanted.bounds = bounds;
  wanted.n_bounds = 2;
  std::uint32_t metric = 0;
  std::uint64_t series = 0;
  REQUIRE(side.call(&koord_svc_metrics::define, &wanted, &metric) == KOORD_OK);
  REQUIRE(side.call(&koord_svc_metrics::series, metric, KOORD_NO_SUBJECT, nullptr, 0, 0, &series) == KOORD_OK);
  const koord_histogram histogram{series, cumulative.data(), static_cast<std::uint32_t>(cumulative.size()), 0, 4.5};
  const std::uint64_t now = side.call(&koord_svc_clock::now_ns);
  return side.call(&koord_svc_metrics::append_histograms, now, &histogram, 1, sizeof histogram);
}

// clang-format off
const RowsOf<koord_svc_metrics> kRows = {
    {"define", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define again", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define otherwise", [](const Side& s) { return define(s, desc("acme_a", KOORD_COUNTER)); }, KOORD_E_INVALID},
    {"define no type without a name", [](const Side& s) { return define(s, desc("", 99)); }, KOORD_E_INVALID},
    {"define unknown flags without a name", [](const Side& s) { auto d = desc(""); d.flags = 1u << 31; return define(s, d); }, KOORD_E_TOO_NEW},
    {"define no type with NULL bounds", [](const Side& s) { auto d = desc("acme_b", 99); d.n_bounds = 2; return define(s, d); }, KOORD_E_INVALID},
    {"define without a name", [](const Side& s) { return define(s, desc("")); }, KOORD_E_INVALID},
    {"define with a bad name", [](const Side& s) { return define(s, desc("a b")); }, KOORD_E_INVALID},
    {"define with a long name", [](const Side& s) { return define(s, desc(kLong)); }, KOORD_E_INVALID},
    {"define with a huge name", [](const Side& s) { return define(s, desc(kHuge)); }, KOORD_E_INVALID},
    {"define with a NULL name", [](const Side& s) { auto d = desc("a"); d.name = {nullptr, 3}; return define(s, d); }, KOORD_E_INVALID},
    {"define with a long help", [](const Side& s) { auto d = desc("a"); d.help = str(kLong); return define(s, d); }, KOORD_E_INVALID},
    {"define with a huge help", [](const Side& s) { auto d = desc("a"); d.help = str(kHuge); return define(s, d); }, KOORD_E_INVALID},
    {"define with a wrong type", [](const Side& s) { return define(s, desc("acme_b", 99)); }, KOORD_E_INVALID},
    {"define a name of the agent's", [](const Side& s) { return define(s, desc("pod_cpu_usage")); }, KOORD_E_DENIED},
    {"define with unknown flags", [](const Side& s) { auto d = desc("a"); d.flags = 1u << 20; return define(s, d); }, KOORD_E_TOO_NEW},
    {"define with bounds NULL", [](const Side& s) { auto d = desc("a", KOORD_HISTOGRAM); d.n_bounds = 3; return define(s, d); }, KOORD_E_INVALID},
    {"define with NULL", [](const Side& s) { return s.call(&koord_svc_metrics::define, nullptr, nullptr); }, KOORD_E_INVALID},

    {"series of an unknown metric",
     [](const Side& s) { std::uint64_t id; return s.call(&koord_svc_metrics::series, 4711, 0, nullptr, 0, 0, &id); }, KOORD_E_INVALID},
    {"series of an unknown subject", [](const Side& s) { std::uint64_t id; return s.call(&koord_svc_metrics::series, 1, 4711, nullptr, 0, 0, &id); }, KOORD_E_GONE},
    {"series with labels NULL", [](const Side& s) { std::uint64_t id; return s.call(&koord_svc_metrics::series, 1, 0, nullptr, 2, sizeof(koord_label), &id); },
     KOORD_E_INVALID},
    {"series with a host's label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("node"), str("x")}; return s.call(&koord_svc_metrics::series, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with a long label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("k"), str(kLong)}; return s.call(&koord_svc_metrics::series, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with many labels",
     [](const Side& s) {
       std::uint64_t id;
       const std::vector<koord_label> l(100, {str("k"), str("v")});
       return s.call(&koord_svc_metrics::series, 1, 0, l.data(), 100, sizeof(koord_label), &id);
     },
     KOORD_E_INVALID},
    {"series of a pod",
     [](const Side& s) {
       const koord_metric_desc wanted = desc("acme_pod");
       std::uint32_t metric = 0;
       REQUIRE(s.call(&koord_svc_metrics::define, &wanted, &metric) == KOORD_OK);
       const koord_label label{str("k"), str("v")};
       return value_of<std::uint64_t>([&](auto* id) { return s.call(&koord_svc_metrics::series, metric, 1, &label, 1, sizeof label, id); });
     },
     KOORD_OK},
    {"end a series", [](const Side& s) { return s.call(&koord_svc_metrics::end_series, series(s, "acme_ended")); }, KOORD_OK},
    {"end a series of another plugin", [](const Side& s) { return s.call(&koord_svc_metrics::end_series, s.series_of_another()); }, KOORD_E_INVALID},
    {"end a series that does not exist", [](const Side& s) { return s.call(&koord_svc_metrics::end_series, 4711); }, KOORD_OK},

    {"append", [](const Side& s) { return append(s, 1, series(s, "acme_a")); }, KOORD_OK},
    {"append NaN", [](const Side& s) { return append(s, std::nan(""), series(s, "acme_a")); }, KOORD_OK},
    {"append an infinite value", [](const Side& s) { return append(s, kInf, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a negative infinite value", [](const Side& s) { return append(s, -kInf, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a huge value", [](const Side& s) { return append(s, 1e300, series(s, "acme_a")); }, KOORD_E_INVALID},
    {"append a negative total", [](const Side& s) { return append(s, -1, series(s, "acme_total", KOORD_COUNTER)); }, KOORD_E_INVALID},
    {"append a total", [](const Side& s) { return append(s, 1, series(s, "acme_total", KOORD_COUNTER)); }, KOORD_OK},
    {"append to no series", [](const Side& s) { return append(s, 1, 0); }, KOORD_E_INVALID},
    {"append to an unknown series", [](const Side& s) { return append(s, 1, (1ull << 32) | 4711); }, KOORD_E_INVALID},
    {"append in the future", [](const Side& s) { return append(s, 1, series(s, "acme_a"), 3'600'000'000'000); }, KOORD_E_INVALID},
    {"append a minute ahead", [](const Side& s) { return append(s, 1, series(s, "acme_b"), 59'000'000'000); }, KOORD_OK},
    {"append an hour back", [](const Side& s) { return append(s, 1, series(s, "acme_c"), -3'600'000'000'000); }, KOORD_OK},
    {"append NULL", [](const Side& s) { return s.call(&koord_svc_metrics::append, 1, nullptr, 2, sizeof(koord_point)); }, KOORD_E_INVALID},
    {"append nothing", [](const Side& s) { return s.call(&koord_svc_metrics::append, s.call(&koord_svc_clock::now_ns), nullptr, 0, 0); }, KOORD_OK},
    {"append with a short stride",
     [](const Side& s) { const koord_point p{1, 1}; return s.call(&koord_svc_metrics::append, 1, &p, 1, 8); }, KOORD_E_INVALID},
    {"append too many", [](const Side& s) { const koord_point p{1, 1}; return s.call(&koord_svc_metrics::append, 1, &p, 1u << 19, sizeof p); }, KOORD_E_INVALID},
    {"append columns",
     [](const Side& s) {
       const std::uint64_t ids[] = {series(s, "acme_columns"), series(s, "acme_rows")};
       const double values[] = {5, 6};
       return s.call(&koord_svc_metrics::append_columns, s.call(&koord_svc_clock::now_ns), ids, values, 2);
     },
     KOORD_OK},
    {"append columns and find them", [](const Side& s) { return samples(s, "acme_rows"); }, KOORD_OK},
    {"append columns with an infinite value",
     [](const Side& s) { const std::uint64_t id = series(s, "acme_columns"); return s.call(&koord_svc_metrics::append_columns, 1, &id, &kInf, 1); },
     KOORD_E_INVALID},
    {"append columns NULL", [](const Side& s) { return s.call(&koord_svc_metrics::append_columns, 1, nullptr, nullptr, 2); }, KOORD_E_INVALID},
    {"append a histogram", [](const Side& s) { return append_histogram(s, {1, 2, 3}); }, KOORD_OK},
    {"append a histogram with too few counts", [](const Side& s) { return append_histogram(s, {1, 2}); }, KOORD_E_INVALID},
    {"append a histogram with counts that fall", [](const Side& s) { return append_histogram(s, {3, 2, 1}); }, KOORD_E_INVALID},
    {"append a histogram without counts",
     [](const Side& s) { const koord_histogram h{1, nullptr, 3, 0, 1}; return s.call(&koord_svc_metrics::append_histograms, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append a histogram to an unknown series",
     [](const Side& s) { const std::uint64_t n[2] = {1, 2}; const koord_histogram h{4711, n, 2, 0, 1}; return s.call(&koord_svc_metrics::append_histograms, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append very many counts",
     [](const Side& s) {
       const std::vector<std::uint64_t> n(1000, 1);
       const std::vector<koord_histogram> h(1000, {1, n.data(), 1000, 0, 1});
       return s.call(&koord_svc_metrics::append_histograms, 1, h.data(), 1000, sizeof h[0]);
     },
     KOORD_E_INVALID},

    {"aggregate", [](const Side& s) { return append(s, 3, series(s, "acme_a")), aggregate(s); }, KOORD_OK},
    {"aggregate without a metric", [](const Side& s) { return aggregate(s, [](auto& q) { q.metric = str(""); }); }, KOORD_E_INVALID},
    {"aggregate a metric that is NULL", [](const Side& s) { return aggregate(s, [](auto& q) { q.metric = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"aggregate by an unknown rule", [](const Side& s) { return aggregate(s, [](auto& q) { q.aggregation = 99; }); }, KOORD_E_INVALID},
    {"aggregate backwards", [](const Side& s) { return aggregate(s, [](auto& q) { q.from_ns = 2; q.to_ns = 1; }); }, KOORD_E_INVALID},
    {"aggregate an unknown subject", [](const Side& s) { return aggregate(s, [](auto& q) { q.subject = 4711; }); }, KOORD_E_GONE},
    {"aggregate without room", [](const Side& s) { return aggregate(s, {}, 0); }, KOORD_E_TOO_SMALL},
    {"aggregate with NULL", [](const Side& s) { std::uint32_t need; return s.call(&koord_svc_metrics::aggregate, nullptr, nullptr, 0, 0, &need); }, KOORD_E_INVALID},
    {"samples", [](const Side& s) { return append(s, 7, series(s, "acme_s")), samples(s, "acme_s"); }, KOORD_OK},
    {"samples of an unknown metric", [](const Side& s) { return samples(s, "acme_none"); }, KOORD_OK, "0 samples"},
    {"samples without room", [](const Side& s) { return samples(s, "acme_s", 0); }, KOORD_E_TOO_SMALL, "1 samples"},
    {"samples without a metric", [](const Side& s) { return samples(s, ""); }, KOORD_E_INVALID},
    {"samples without need",
     [](const Side& s) { koord_query q = {}; q.struct_size = sizeof q; return s.call(&koord_svc_metrics::samples, &q, nullptr, 0, 0, nullptr); }, KOORD_E_INVALID},
};
// clang-format on

}  // namespace

TEST_CASE("koord.metrics/1 gives a plugin in the agent and one in a child the same answer") { kRows.check(); }

TEST_CASE("a child's query sees what the child appended before, as a plugin's in the agent does") {
  BothRunners both;
  const Side& side = both.far_side;
  both.far.remote().set_in_call(true);  // so the host does not report the batch
  REQUIRE(append(side, 42, series(side, "acme_a")) == KOORD_OK);
  CHECK(aggregate(side).answer == "1 row: 42 of 1");
}
