// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>

#include "test/core/service/metrics_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(MetricsOnHost, "an appended value is at once on /metrics and in the metric cache") {
  const std::uint64_t usage = series(define(desc("usage")));
  REQUIRE(append({{usage, 1.5}}) == KOORD_OK);
  std::string text;
  host.metrics().write_text(text, host.clock().now());
  CHECK(text.find("koordetector_usage{node=\"fake-node\"} 1.5") != std::string::npos);
  REQUIRE(rows(query("usage")).size() == 1);
  CHECK(rows(query("usage"))[0].value == doctest::Approx(1.5));
}

TEST_CASE_FIXTURE(MetricsOnHost, "defining the same metric again gives the same metric") {
  CHECK(define(desc("usage")) == define(desc("usage")));
}

TEST_CASE_FIXTURE(MetricsOnHost, "a metric of another plugin cannot be defined") {
  define(desc("usage"));
  auto other = host.make_context("com.example.other", {"koord.metrics/1"});
  const koord_metric_desc same = desc("usage");
  std::uint32_t metric = 0;
  CHECK(service->define(other->host(), &same, &metric) == KOORD_E_INVALID);
  CHECK(other->take_error()->text.find("'test'") != std::string::npos);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a series of a container has the labels of the container and its pod") {
  publish_pod();
  const std::uint64_t of_container = series(define(desc("usage")), pod().containers[0].handle, {label("zone", "a")});
  REQUIRE(append({{of_container, 2}}) == KOORD_OK);
  CHECK(host.value("usage", {{"container_id", "containerd://u1"},
                             {"container_name", "main"},
                             {"pod_uid", "u1"},
                             {"pod_name", "u1"},
                             {"pod_namespace", "default"},
                             {"zone", "a"}}) == 2.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a series ends with its subject, and a late point is no error") {
  publish_pod("u1");
  const std::uint64_t of_pod = series(define(desc("usage")), pod().handle);
  REQUIRE(append({{of_pod, 1}}) == KOORD_OK);
  publish_pod("u2");
  CHECK(append({{of_pod, 2}}) == KOORD_OK);
  CHECK(host.series("usage").empty());
}

TEST_CASE_FIXTURE(MetricsOnHost, "there is no series for a subject that has ended") {
  publish_pod("u1");
  const std::uint64_t ended = pod().handle;
  publish_pod("u2");
  std::uint64_t series = 0;
  CHECK(service->series(abi, define(desc("usage")), ended, nullptr, 0, 0, &series) == KOORD_E_GONE);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a batch with one bad point is refused as a whole") {
  const std::uint64_t good = series(define(desc("usage")));
  CHECK(append({{good, 1}, {good + (1ull << 40), 2}}) == KOORD_E_INVALID);
  CHECK(host.series("usage").empty());
}

TEST_CASE_FIXTURE(MetricsOnHost, "a value that is not a number is no value this time") {
  const std::uint64_t usage = series(define(desc("usage")));
  CHECK(append({{usage, std::nan("")}}) == KOORD_OK);
  CHECK_FALSE(host.value("usage"));
}

TEST_CASE_FIXTURE(MetricsOnHost, "points in larger records are found by their stride") {
  struct Larger {
    koord_point point;
    std::uint64_t more;
  };
  const std::uint64_t usage = series(define(desc("usage")));
  const std::uint64_t other = series(define(desc("other")));
  const Larger points[] = {{{usage, 1}, ~0ull}, {{other, 2}, ~0ull}};
  CHECK(service->append(abi, now(), &points[0].point, 2, sizeof(Larger)) == KOORD_OK);
  CHECK(host.value("other") == 2.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "columns are a batch, too") {
  const std::uint64_t series_ids[] = {series(define(desc("a"))), series(define(desc("b")))};
  const double values[] = {1, 2};
  CHECK(service->append_columns(abi, now(), series_ids, values, 2) == KOORD_OK);
  CHECK(host.value("a") == 1.0);
  CHECK(host.value("b") == 2.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a batch from the future is refused, so that it cannot shut out those to come") {
  const koord_point point{series(define(desc("usage"))), 1};
  const std::uint64_t ahead = to_ns(host.clock().now() + 1h);
  CHECK(service->append(abi, ahead, &point, 1, sizeof point) == KOORD_E_INVALID);
  CHECK(service->append(abi, ~0ull, &point, 1, sizeof point) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a histogram is appended as running totals") {
  koord_metric_desc latency = desc("latency", KOORD_HISTOGRAM);
  const double bounds[] = {0.1, 1};
  latency.bounds = bounds;
  latency.n_bounds = 2;
  const std::uint64_t id = series(define(latency));
  const std::uint64_t cumulative[] = {1, 2, 3};
  const koord_histogram histogram{id, cumulative, 3, 0, 4.5};
  REQUIRE(service->append_histograms(abi, now(), &histogram, 1, sizeof histogram) == KOORD_OK);
  std::string text;
  host.metrics().write_text(text, host.clock().now());
  CHECK(text.find("le=\"+Inf\"} 3") != std::string::npos);
  CHECK(rows(query("latency_count"))[0].value == 3.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "one query answers for every subject, with its handle and series") {
  publish_pod();
  const std::uint32_t metric = define(desc("usage"));
  const std::uint64_t of_pod = series(metric, pod().handle);
  const std::uint64_t of_container = series(metric, pod().containers[0].handle);
  REQUIRE(append({{of_pod, 1}, {of_container, 2}}) == KOORD_OK);
  for (const koord_agg_row& row : rows(query("usage"))) {
    CHECK(row.subject == (row.value == 1 ? pod().handle : pod().containers[0].handle));
    CHECK(row.series == (row.value == 1 ? of_pod : of_container));
  }
}

TEST_CASE_FIXTURE(MetricsOnHost, "a query for a pod leaves its containers out") {
  publish_pod();
  const std::uint32_t metric = define(desc("usage"));
  REQUIRE(append({{series(metric, pod().handle), 1}, {series(metric, pod().containers[0].handle), 2}}) == KOORD_OK);
  koord_query of_pod = query("usage");
  of_pod.subject = pod().handle;
  REQUIRE(rows(of_pod).size() == 1);
  CHECK(rows(of_pod)[0].value == 1.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "an ended series is still answered for, without a handle") {
  const std::uint64_t usage = series(define(desc("usage")));
  REQUIRE(append({{usage, 1}}) == KOORD_OK);
  REQUIRE(service->end_series(abi, usage) == KOORD_OK);
  REQUIRE(rows(query("usage")).size() == 1);
  CHECK(rows(query("usage"))[0].series == 0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a series without a sample in the window has no row") {
  REQUIRE(append({{series(define(desc("usage"))), 1}}) == KOORD_OK);
  host.clock().advance(2min);
  CHECK(rows(query("usage")).empty());
}

TEST_CASE_FIXTURE(MetricsOnHost, "labels choose the series of a query") {
  const std::uint32_t metric = define(desc("usage"));
  const std::uint64_t a = series(metric, KOORD_NO_SUBJECT, {label("zone", "a")});
  const std::uint64_t b = series(metric, KOORD_NO_SUBJECT, {label("zone", "b")});
  REQUIRE(append({{a, 1}, {b, 2}}) == KOORD_OK);
  koord_query of_b = query("usage");
  const koord_label zone = label("zone", "b");
  of_b.labels = &zone;
  of_b.n_labels = 1;
  of_b.label_stride = sizeof zone;
  REQUIRE(rows(of_b).size() == 1);
  CHECK(rows(of_b)[0].series == b);
}

TEST_CASE_FIXTURE(MetricsOnHost, "an answer that does not fit says its size and writes nothing") {
  const std::uint32_t metric = define(desc("usage"));
  for (const char* zone : {"a", "b"})
    REQUIRE(append({{series(metric, KOORD_NO_SUBJECT, {label("zone", zone)}), 1}}) == KOORD_OK);
  const koord_query all = query("usage");
  koord_agg_row row = {};
  std::uint32_t need = 0;
  CHECK(service->aggregate(abi, &all, &row, 1, sizeof row, &need) == KOORD_E_TOO_SMALL);
  CHECK(need == 2);
  CHECK(row.count == 0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "samples come one by one, oldest first") {
  const std::uint64_t usage = series(define(desc("usage")));
  for (double value : {1.0, 2.0}) {
    REQUIRE(append({{usage, value}}) == KOORD_OK);
    host.clock().advance(1s);
  }
  const koord_query all = query("usage");
  koord_sample out[4];
  std::uint32_t need = 0;
  REQUIRE(service->samples(abi, &all, out, 4, sizeof out[0], &need) == KOORD_OK);
  REQUIRE(need == 2);
  CHECK(out[0].value == doctest::Approx(1));
  CHECK(out[1].value == doctest::Approx(2));
  CHECK(out[1].t_ns - out[0].t_ns == 1'000'000'000);
  CHECK(out[0].series == usage);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a plugin ends its own series only") {
  const std::uint64_t usage = series(define(desc("usage")));
  auto other = host.make_context("com.example.other", {"koord.metrics/1"});
  CHECK(service->end_series(other->host(), usage) == KOORD_E_INVALID);
  CHECK(append({{usage, 1}}) == KOORD_OK);
  CHECK(host.value("usage") == 1.0);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a plugin's series leave /metrics with its last context") {
  auto first = host.make_context("com.example.two", {"koord.metrics/1"});
  auto second = host.make_context("com.example.two", {"koord.metrics/1"});
  const koord_metric_desc load = desc("load");
  std::uint32_t metric = 0;
  std::uint64_t id = 0;
  REQUIRE(service->define(first->host(), &load, &metric) == KOORD_OK);
  REQUIRE(service->series(first->host(), metric, 0, nullptr, 0, 0, &id) == KOORD_OK);
  const koord_point point{id, 1};
  REQUIRE(service->append(first->host(), now(), &point, 1, sizeof point) == KOORD_OK);
  first.reset();
  CHECK(host.value("load") == 1.0);
  second.reset();
  CHECK(host.series("load").empty());
}

TEST_CASE_FIXTURE(MetricsOnHost, "NULL and nonsense are refused with a text") {
  std::uint64_t id = 0;
  std::uint32_t need = 0;
  const koord_metric_desc usage = desc("usage");
  const koord_query all = query("usage");
  CHECK(service->define(abi, nullptr, &need) == KOORD_E_INVALID);
  CHECK(host.last_error() == "desc is NULL");
  CHECK(service->define(abi, &usage, nullptr) == KOORD_E_INVALID);
  CHECK(service->series(abi, 0, 0, nullptr, 3, 32, &id) == KOORD_E_INVALID);
  CHECK(host.last_error() == "labels is NULL with a count of 3");
  CHECK(service->append(abi, now(), nullptr, 1, 16) == KOORD_E_INVALID);
  CHECK(service->append_columns(abi, now(), &id, nullptr, 1) == KOORD_E_INVALID);
  CHECK(service->aggregate(abi, nullptr, nullptr, 0, 0, &need) == KOORD_E_INVALID);
  CHECK(service->aggregate(abi, &all, nullptr, 0, 0, nullptr) == KOORD_E_INVALID);
  CHECK(service->append(nullptr, now(), nullptr, 0, 0) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(MetricsOnHost, "a stride that is too small is refused") {
  const koord_point point{series(define(desc("usage"))), 1};
  CHECK(service->append(abi, now(), &point, 1, sizeof point - 1) == KOORD_E_INVALID);
  CHECK(host.last_error() == "points: stride is 15, expected at least 16");
}

TEST_CASE_FIXTURE(MetricsOnHost, "a flag that this host does not know is too new") {
  koord_metric_desc newer = desc("usage");
  newer.flags |= 1u << 31;
  std::uint32_t metric = 0;
  CHECK(service->define(abi, &newer, &metric) == KOORD_E_TOO_NEW);
}
