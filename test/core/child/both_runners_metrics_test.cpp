// SPDX-License-Identifier: Apache-2.0
// koord.metrics/1 with good and bad arguments, in both runners.
#include <cmath>
#include <limits>

#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

koord_metric_desc desc(std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  return {sizeof(koord_metric_desc), type, KOORD_METRIC_EXPORT, 0, str(name), str("cores"), str("Help."), 1e-4, nullptr};
}

koord_status define(const Side& side, const koord_metric_desc& desc) {
  std::uint32_t metric = 0;
  return side.metrics().define(side.host, &desc, &metric);
}

std::uint64_t series(const Side& side, std::string_view name, std::uint32_t type = KOORD_GAUGE) {
  const koord_metric_desc wanted = desc(name, type);
  std::uint32_t metric = 0;
  std::uint64_t series = 0;
  REQUIRE(side.metrics().define(side.host, &wanted, &metric) == KOORD_OK);
  REQUIRE(side.metrics().series(side.host, metric, KOORD_NO_SUBJECT, nullptr, 0, 0, &series) == KOORD_OK);
  return series;
}

koord_status append(const Side& side, double value, std::uint64_t series, std::int64_t ahead_ns = 0) {
  const koord_point point{series, value};
  const std::uint64_t now = side.clock().now_ns(side.host);
  return side.metrics().append(side.host, now + static_cast<std::uint64_t>(ahead_ns), &point, 1, sizeof point);
}

koord_status query(const Side& side, const std::function<void(koord_query&)>& change = {}, std::uint32_t cap = 4) {
  koord_query query = {};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = str("acme_a");
  if (change) change(query);
  koord_agg_row rows[4];
  std::uint32_t need = 0;
  return side.metrics().aggregate(side.host, &query, rows, cap, sizeof rows[0], &need);
}

const Row kRows[] = {
    {"define", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define again", [](const Side& s) { return define(s, desc("acme_a")); }, KOORD_OK},
    {"define otherwise", [](const Side& s) { return define(s, desc("acme_a", KOORD_COUNTER)); }, KOORD_E_INVALID},
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
    {"define with NULL", [](const Side& s) { return s.metrics().define(s.host, nullptr, nullptr); }, KOORD_E_INVALID},

    {"series of an unknown metric",
     [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 4711, 0, nullptr, 0, 0, &id); }, KOORD_E_INVALID},
    {"series of an unknown subject", [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 1, 4711, nullptr, 0, 0, &id); }, KOORD_E_GONE},
    {"series with labels NULL", [](const Side& s) { std::uint64_t id; return s.metrics().series(s.host, 1, 0, nullptr, 2, sizeof(koord_label), &id); },
     KOORD_E_INVALID},
    {"series with a host's label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("node"), str("x")}; return s.metrics().series(s.host, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with a long label",
     [](const Side& s) { std::uint64_t id; const koord_label l{str("k"), str(kLong)}; return s.metrics().series(s.host, 1, 0, &l, 1, sizeof l, &id); },
     KOORD_E_INVALID},
    {"series with many labels",
     [](const Side& s) {
       std::uint64_t id;
       const std::vector<koord_label> l(100, {str("k"), str("v")});
       return s.metrics().series(s.host, 1, 0, l.data(), 100, sizeof(koord_label), &id);
     },
     KOORD_E_INVALID},
    {"end a series that is none", [](const Side& s) { return s.metrics().end_series(s.host, 4711); }, KOORD_OK},

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
    {"append NULL", [](const Side& s) { return s.metrics().append(s.host, 1, nullptr, 2, sizeof(koord_point)); }, KOORD_E_INVALID},
    {"append nothing", [](const Side& s) { return s.metrics().append(s.host, s.clock().now_ns(s.host), nullptr, 0, 0); }, KOORD_OK},
    {"append with a short stride",
     [](const Side& s) { const koord_point p{1, 1}; return s.metrics().append(s.host, 1, &p, 1, 8); }, KOORD_E_INVALID},
    {"append too many", [](const Side& s) { const koord_point p{1, 1}; return s.metrics().append(s.host, 1, &p, 1u << 19, sizeof p); }, KOORD_E_INVALID},
    {"append columns NULL", [](const Side& s) { return s.metrics().append_columns(s.host, 1, nullptr, nullptr, 2); }, KOORD_E_INVALID},
    {"append a histogram without counts",
     [](const Side& s) { const koord_histogram h{1, nullptr, 3, 0, 1}; return s.metrics().append_histograms(s.host, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append a histogram to an unknown series",
     [](const Side& s) { const std::uint64_t n[2] = {1, 2}; const koord_histogram h{4711, n, 2, 0, 1}; return s.metrics().append_histograms(s.host, 1, &h, 1, sizeof h); },
     KOORD_E_INVALID},
    {"append very many counts",
     [](const Side& s) {
       const std::vector<std::uint64_t> n(1000, 1);
       const std::vector<koord_histogram> h(1000, {1, n.data(), 1000, 0, 1});
       return s.metrics().append_histograms(s.host, 1, h.data(), 1000, sizeof h[0]);
     },
     KOORD_E_INVALID},

    {"aggregate", [](const Side& s) { return query(s); }, KOORD_OK},
    {"aggregate without a metric", [](const Side& s) { return query(s, [](auto& q) { q.metric = str(""); }); }, KOORD_E_INVALID},
    {"aggregate a metric that is NULL", [](const Side& s) { return query(s, [](auto& q) { q.metric = {nullptr, 4}; }); }, KOORD_E_INVALID},
    {"aggregate by an unknown rule", [](const Side& s) { return query(s, [](auto& q) { q.aggregation = 99; }); }, KOORD_E_INVALID},
    {"aggregate backwards", [](const Side& s) { return query(s, [](auto& q) { q.from_ns = 2; q.to_ns = 1; }); }, KOORD_E_INVALID},
    {"aggregate an unknown subject", [](const Side& s) { return query(s, [](auto& q) { q.subject = 4711; }); }, KOORD_E_GONE},
    {"aggregate without room", [](const Side& s) { return query(s, {}, 0); }, KOORD_E_TOO_SMALL},
    {"aggregate with NULL", [](const Side& s) { std::uint32_t need; return s.metrics().aggregate(s.host, nullptr, nullptr, 0, 0, &need); }, KOORD_E_INVALID},
    {"samples without need",
     [](const Side& s) { koord_query q = {}; q.struct_size = sizeof q; return s.metrics().samples(s.host, &q, nullptr, 0, 0, nullptr); }, KOORD_E_INVALID},
};

}  // namespace

TEST_CASE("koord.metrics/1 gives a plugin in the agent and one in a child the same status and text") {
  check_in_both_runners(kRows);
}

TEST_CASE("a child's query sees what the child appended before, as a plugin's in the agent does") {
  const Trees trees;
  OneHost one(trees.node);
  Far far(one);
  const std::set<std::string> all = workshop::all_services();
  far.remote().grant({all.begin(), all.end()});
  const Side side{far.remote().host(), far.remote()};
  far.remote().set_in_call(true);  // the batch is not reported
  REQUIRE(append(side, 42, series(side, "acme_a")) == KOORD_OK);
  koord_query query = {};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = str("acme_a");
  koord_agg_row row;
  std::uint32_t need = 0;
  REQUIRE(side.metrics().aggregate(side.host, &query, &row, 1, sizeof row, &need) == KOORD_OK);
  REQUIRE(need == 1);
  CHECK(row.value == 42);
}
