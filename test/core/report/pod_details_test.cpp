// SPDX-License-Identifier: Apache-2.0
#include "core/report/pod_details.hpp"

#include <boost/json.hpp>
#include <limits>

#include "core/aggregated/schema.hpp"
#include "test/core/report/report_fixture.hpp"

using namespace koord;
using namespace koord::test;
namespace json = boost::json;

namespace {

constexpr double kMi = 1024.0 * 1024;
constexpr std::int64_t kWall = 1'790'000'000'000'000'000;

struct DetailFixture : ReportFixture {
  verdict::Store verdicts;

  DetailFixture() {
    usage("node", {}, {4}, {64 * kMi});
    usage("sys", {}, {1}, {kMi});
    pod("u1", "shop", "web-0", {0.5}, {kMi});
    pod("u2", "shop", "web-1", {0.5}, {kMi});
  }
  // Adds a counter with `samples` samples, each larger by `each`.
  std::uint32_t counter(const std::string& metric, store::Labels labels, double each, double from = 0) {
    std::vector<double> values;
    for (int i = 0; i < 600; ++i) values.push_back(from + i * each);
    REQUIRE(cache->begin_series(++last_index, {metric, "seconds", 1e-6, std::move(labels)}));
    signals.push_back({last_index, std::move(values)});
    return last_index;
  }
  DetailsOfPods details() {
    const auto standing = verdicts.standing();
    return make_pod_details({*cache, state, standing->records, 30s, clock.now(), kWall});
  }
  PodPressure pressure(const char* pod) { return details()[{"shop", pod}].pressure; }
  verdict::Record about(const std::string& uid, const std::string& container, verdict::Resource resource) {
    verdict::Record record;
    record.victim = {7 + verdicts.posted(), {{"pod_uid", uid}, {"pod_name", "forged"}, {"pod_namespace", "forged"}}};
    if (!container.empty()) record.victim.labels.emplace_back("container_name", container);
    record.resource = resource;
    record.kind = verdict::Kind::interfered;
    record.method = verdict::Method::exact;
    record.statistic = {"wait", "seconds", 9, 1, 6};
    verdict::Suspect hog;
    hog.subject.labels = {{"pod_namespace", "batch"}, {"pod_name", "etl-5"}, {"container_name", "main"}};
    hog.share = 0.66;
    record.suspects = {hog};
    return record;
  }
  void post(std::vector<verdict::Record> records) {
    post({"advisor-interference", verdict::Origin::own, 1}, std::move(records));
  }
  void post(const verdict::Source& source, std::vector<verdict::Record> records) {
    REQUIRE(verdicts.post(clock.now(), source, std::move(records)));
  }
};

}  // namespace

TEST_CASE_FIXTURE(DetailFixture, "the pressure of a pod is the rate of its counters") {
  counter("pod_sched_latency_seconds_sum", {{"pod_uid", "u1"}}, 0.25);
  counter("pod_memory_stall_seconds_total", {{"pod_uid", "u1"}, {"kind", "memcg_reclaim"}}, 0.125);
  counter("pod_memory_stall_seconds_total", {{"pod_uid", "u1"}, {"kind", "compaction"}}, 0.5);
  counter("pod_pressure_stalled_seconds_total", {{"pod_uid", "u1"}, {"psi_resource", "io"}, {"psi_degree", "some"}},
          0.0625);
  run(60s);
  CHECK(pressure("web-0") == PodPressure{0.25, 0.625, 0.0625});
  CHECK_FALSE(pressure("web-1").is_known());
}

TEST_CASE_FIXTURE(DetailFixture,
                  "without traced stalls the memory stall is the kernel's pressure, partly stalled time") {
  counter("pod_pressure_stalled_seconds_total", {{"pod_uid", "u1"}, {"psi_resource", "mem"}, {"psi_degree", "some"}},
          0.25);
  counter("pod_pressure_stalled_seconds_total", {{"pod_uid", "u1"}, {"psi_resource", "mem"}, {"psi_degree", "full"}},
          0.125);
  run(60s);
  CHECK(pressure("web-0") == PodPressure{std::nullopt, 0.25, std::nullopt});
}

TEST_CASE_FIXTURE(DetailFixture, "a counter with one sample, an old one, or one that was reset has no rate") {
  const std::uint32_t old = counter("pod_sched_latency_seconds_sum", {{"pod_uid", "u1"}}, 0.25);
  run(30s);
  end(old);
  counter("pod_memory_stall_seconds_total", {{"pod_uid", "u1"}, {"kind", "compaction"}}, 0.5);
  ticks = 0;
  run(1s);
  CHECK(pressure("web-0").memory_stall == std::nullopt);
  CHECK(pressure("web-0").scheduling_delay.has_value());
  run(20s);
  CHECK(pressure("web-0").memory_stall == 0.5);
  CHECK(pressure("web-0").scheduling_delay == std::nullopt);
  ticks = 0;
  run(5s);
  CHECK(pressure("web-0").memory_stall == std::nullopt);
}

TEST_CASE_FIXTURE(DetailFixture, "a standing verdict is of the pod with its uid, whatever else its labels say") {
  post({about("u1", "app", verdict::Resource::cpu)});
  clock.advance(20s);
  const DetailsOfPods found = details();
  REQUIRE(found.size() == 1);
  const PodInterference& verdict = found.at({"shop", "web-0"}).interference.at(0);
  CHECK(verdict == PodInterference{"app",
                                   "cpu",
                                   "interfered",
                                   "exact",
                                   1.5,
                                   kWall / 1'000'000'000 - 20,
                                   {{"subject", "batch/etl-5/main", 0.66}}});
}

TEST_CASE_FIXTURE(DetailFixture,
                  "a verdict about an unknown pod, and one that was not posted again in time, is left out") {
  post({about("elsewhere", "app", verdict::Resource::cpu), about("u2", "", verdict::Resource::memory)});
  CHECK(details().size() == 1);
  clock.advance(61s);
  CHECK(details().empty());
}

TEST_CASE_FIXTURE(DetailFixture, "a third party's verdict is not reported") {
  post({"com.example.rule", verdict::Origin::third_party, 1}, {about("u1", "app", verdict::Resource::cpu)});
  CHECK(details().empty());
}

TEST_CASE_FIXTURE(DetailFixture, "a flood of verdicts and suspects is cut, and invalid numbers are left out") {
  std::vector<verdict::Record> flood;
  for (std::uint64_t i = 0; i < 100; ++i) {
    verdict::Record record = about("u1", "c" + std::to_string(i), verdict::Resource::blkio);
    record.victim.handle = 1000 + i;
    record.suspects.assign(50, record.suspects[0]);
    record.suspects[0].share = std::numeric_limits<double>::infinity();
    record.statistic.threshold = 0;
    flood.push_back(std::move(record));
  }
  post(std::move(flood));
  const std::vector<PodInterference> found = details().at({"shop", "web-0"}).interference;
  REQUIRE(found.size() == kMaxVerdictsOfPod);
  CHECK(found[0].severity == std::nullopt);
  REQUIRE(found[0].suspects.size() == kMaxSuspectsOfVerdict);
  CHECK(found[0].suspects[0].share == std::nullopt);
}

TEST_CASE_FIXTURE(DetailFixture, "all that a report has is known to the schema of metrics.koordetector.sh") {
  counter("pod_sched_latency_seconds_sum", {{"pod_uid", "u1"}}, 0.25);
  counter("pod_memory_stall_seconds_total", {{"pod_uid", "u1"}, {"kind", "compaction"}}, 0.5);
  counter("pod_pressure_stalled_seconds_total", {{"pod_uid", "u1"}, {"psi_resource", "io"}, {"psi_degree", "some"}},
          0.5);
  run(60s);
  post({about("u1", "app", verdict::Resource::cpu)});
  const std::string text = to_json(report().status, details());
  json::object status = json::parse(text).get_object();
  std::vector<aggregated::Cause> causes;
  aggregated::check_fields(aggregated::status_schema(), status, "status", causes);
  CHECK(causes.empty());
  CHECK(json::serialize(status) == text);
  CHECK(json::serialize(status.at("podsMetric").at(0).at("pressure")) ==
        R"({"schedulingDelaySeconds":2.5E-1,"memoryStallSeconds":5E-1,"ioStallSeconds":5E-1})");
}

TEST_CASE_FIXTURE(DetailFixture, "the report for Koordinator's NodeMetric has neither pressure nor interference") {
  counter("pod_sched_latency_seconds_sum", {{"pod_uid", "u1"}}, 0.25);
  run(60s);
  post({about("u1", "app", verdict::Resource::cpu)});
  const std::string text = to_json(report().status);
  CHECK(text.find("pressure") == std::string::npos);
  CHECK(text.find("interference") == std::string::npos);
}
