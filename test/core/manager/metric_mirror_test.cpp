// SPDX-License-Identifier: Apache-2.0
#include "core/manager/metric_mirror.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

TestCluster& mirror_cluster() {
  static TestCluster one;
  one.clear_faults();
  return one;
}

struct Mirroring : LoopHere {
  TestCluster& cluster = mirror_cluster();
  SystemClock clock;
  kube::Client client{
      loop, workers, clock, *kube::find_config(cluster.kubeconfig()), {.requests_per_second = 1000, .burst = 1000}};
  bool leads = true;
  std::string report =
      R"({"updateTime":"2026-09-21T14:13:20Z","nodeMetric":{"nodeUsage":{"resources":{"cpu":"4","memory":"8Gi"}}},)"
      R"("podsMetric":[{"name":"web-0","namespace":"shop","podUsage":{},"pressure":{"ioStallSeconds":0.5}}],)"
      R"("conditions":[{"type":"Fresh","status":"True","reason":"r","message":"m","lastTransitionTime":"2026-09-21T14:13:20Z"}]})";
  MetricMirror mirror{{loop, clock, client, [this] { return leads; }, [this](const std::string&) { return report; }},
                      {.gap = 50ms},
                      10ms};

  Mirroring() {
    cluster.put(
        R"({"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":"test-node"},"spec":{},)"
        R"("status":{"prodPeakMetric":{"resource":{}}}})");
  }
  std::string status() {
    return boost::json::serialize(read_json(*cluster.get("NodeMetric", "test-node"))->at("status"));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Mirroring,
                  "a report becomes the whole status of Koordinator's NodeMetric, without fields that it lacks") {
  mirror.report("test-node", report);
  REQUIRE(until([&] { return mirror.counts().written + mirror.counts().failed > 0; }));
  CHECK_MESSAGE(mirror.counts().written == 1, mirror.problem());
  const std::string text = status();
  CHECK(text.find(R"("cpu":"4")") != std::string::npos);
  CHECK(text.find(R"("name":"web-0")") != std::string::npos);
  for (const char* gone : {"pressure", "conditions", "prodPeakMetric"}) {
    CAPTURE(gone);
    CHECK(text.find(gone) == std::string::npos);
  }
}

TEST_CASE_FIXTURE(Mirroring, "a replica that does not lead writes nothing, and starts over when it leads") {
  leads = false;
  mirror.report("test-node", report);
  std::size_t turns = 0;
  const auto timer = loop.every(10ms, [&] { ++turns; });
  REQUIRE(until([&] { return turns > 20; }));
  CHECK(mirror.counts().written == 0);
  leads = true;
  REQUIRE(until([&] { return turns > 40; }));
  mirror.report("test-node", report);
  REQUIRE(until([&] { return mirror.counts().written == 1; }));
}

TEST_CASE_FIXTURE(Mirroring, "a missing object is counted, a refused write is tried again") {
  mirror.report("elsewhere", report);
  REQUIRE(until([&] { return mirror.counts().absent > 0; }));
  CHECK(mirror.problem().empty());
  mirror.forget("elsewhere");
  report = R"({"nodeMetric":7})";
  mirror.report("test-node", report);
  REQUIRE(until([&] { return mirror.counts().failed >= 2; }));
  CHECK(mirror.problem().find("422") != std::string::npos);
}

TEST_CASE_FIXTURE(Mirroring, "a status that is not an object is written nowhere") {
  report = "garbage";
  mirror.report("test-node", report);
  std::size_t turns = 0;
  const auto timer = loop.every(10ms, [&] { ++turns; });
  REQUIRE(until([&] { return turns > 20; }));
  CHECK(mirror.counts().written + mirror.counts().failed + mirror.counts().absent == 0);
}
