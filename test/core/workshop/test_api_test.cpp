// SPDX-License-Identifier: Apache-2.0
// koordetector/test.h as an author uses it: the plugin's source is linked into this program.
#include <doctest/doctest.h>
#include <koordetector/test.h>

#include <cmath>
#include <string>

namespace {

constexpr const char* kPods = R"({"items": [{"metadata": {"uid": "u1", "namespace": "shop", "name": "cart"},
  "spec": {"containers": [{"name": "web"}]}, "status": {"phase": "Running", "qosClass": "BestEffort",
  "containerStatuses": [{"name": "web", "containerID": "containerd://c1", "state": {"running": {}}}]}}]})";

struct Test {
  koord_test* t = koord_test_open(koord_entry_v1);
  ~Test() { koord_test_close(t); }
  std::string why() { return koord_test_why(t); }
};

}  // namespace

TEST_CASE_FIXTURE(Test, "an advisor's metric is what its file says at each tick") {
  REQUIRE(koord_test_file(t, "proc/loadavg", "0.50 0.40 0.30 1/100 1234\n") == KOORD_OK);
  REQUIRE(koord_test_start(t, nullptr, nullptr) == KOORD_OK);
  CHECK(std::isnan(koord_test_value(t, "gauge_load", nullptr)));
  REQUIRE(koord_test_tick(t) == KOORD_OK);
  CHECK(koord_test_value(t, "gauge_load", nullptr) == 0.5);
  koord_test_file(t, "proc/loadavg", "0.75 0.40 0.30 1/100 1234\n");
  koord_test_advance(t, 1'000'000'000);
  REQUIRE(koord_test_tick(t) == KOORD_OK);
  CHECK(koord_test_value(t, "gauge_load", "") == 0.75);
  CHECK(koord_test_series(t, "gauge_load") == 1);
  CHECK(koord_test_end(t) == KOORD_OK);
  CHECK(koord_test_series(t, "gauge_load") == 0);
}

TEST_CASE_FIXTURE(Test, "a file that is missing is the tick's error, with the reason") {
  REQUIRE(koord_test_start(t, "load", nullptr) == KOORD_OK);
  CHECK(koord_test_tick(t) != KOORD_OK);
  CHECK(why().find("loadavg") != std::string::npos);
}

TEST_CASE_FIXTURE(Test, "a strategy's proposals are those of the last tick") {
  koord_test_file(t, "proc/loadavg", "3 2 1 1/100 1234\n");
  REQUIRE(koord_test_pods(t, kPods) == KOORD_OK);
  REQUIRE(koord_test_start(t, "cap", R"({"capAbove": 2})") == KOORD_OK);
  REQUIRE(koord_test_tick(t) == KOORD_OK);
  const koord_intent* intent = koord_test_proposal(t, 0);
  REQUIRE(intent != nullptr);
  CHECK(std::string(intent->knob.p) == "cpu.max");
  CHECK(std::string(intent->value.p) == "10000 100000");
  REQUIRE(intent->n_inputs == 1);
  CHECK(std::string(intent->inputs[0].key.p) + "=" + intent->inputs[0].value.p == "load=high");
  CHECK(koord_test_proposal(t, 1) == nullptr);
  CHECK(koord_test_applied(t, KOORD_OK, "10000 100000", "com.example.gauge") == KOORD_OK);
  REQUIRE(koord_test_configure(t, R"({"capAbove": 5})") == KOORD_OK);
  REQUIRE(koord_test_tick(t) == KOORD_OK);
  CHECK(koord_test_proposal(t, 0) == nullptr);
}

TEST_CASE_FIXTURE(Test, "a configuration that does not fit is refused, and the old one holds") {
  koord_test_file(t, "proc/loadavg", "3 2 1 1/100 1234\n");
  koord_test_pods(t, kPods);
  REQUIRE(koord_test_start(t, "cap", R"({"capAbove": 2})") == KOORD_OK);
  CHECK(koord_test_configure(t, R"({"capAbov": 5})") == KOORD_E_INVALID);
  CHECK(why().find("capAbov") != std::string::npos);
  REQUIRE(koord_test_tick(t) == KOORD_OK);
  CHECK(koord_test_proposal(t, 0) != nullptr);
}

TEST_CASE_FIXTURE(Test, "a hook answers for a pod and for a container") {
  REQUIRE(koord_test_pods(t, kPods) == KOORD_OK);
  REQUIRE(koord_test_start(t, "shares", nullptr) == KOORD_OK);
  REQUIRE(koord_test_handle(t, KOORD_STAGE_PRE_RUN_POD_SANDBOX, "u1", nullptr) == KOORD_OK);
  CHECK(std::string(koord_test_adjustment(t, "linux.cpu.shares")) == "1024");
  REQUIRE(koord_test_handle(t, KOORD_STAGE_PRE_CREATE_CONTAINER, "u1", "web") == KOORD_OK);
  CHECK(std::string(koord_test_adjustment(t, "linux.cpu.shares")) == "512");
  CHECK(koord_test_adjustment(t, "env:X") == nullptr);
  CHECK(koord_test_rejection(t) == nullptr);
  CHECK(koord_test_handle(t, KOORD_STAGE_PRE_CREATE_CONTAINER, "u2", "web") == KOORD_E_NOT_FOUND);
  CHECK(why() == "no pod has the uid 'u2'");
}

TEST_CASE_FIXTURE(Test, "an external advisor returns its address, and maps samples") {
  REQUIRE(koord_test_start(t, "node-exporter", nullptr) == KOORD_OK);
  CHECK(std::string(koord_test_url(t)) == "http://127.0.0.1:9100/metrics");
  double value = 21;
  CHECK(koord_test_map_sample(t, "node_load1", "instance=here", &value) == KOORD_OK);
  CHECK(value == 42);
  CHECK(koord_test_map_sample(t, "go_threads", nullptr, &value) == KOORD_E_NOT_FOUND);
  CHECK(std::string(koord_test_map_metric(t, "node_load1")) == "node_load1");
}

TEST_CASE_FIXTURE(Test, "another plugin's samples carry their pod's labels") {
  REQUIRE(koord_test_pods(t, kPods) == KOORD_OK);
  REQUIRE(koord_test_sample(t, "pod_cpu_usage", "u1", "kind=user", 1.5) == KOORD_OK);
  CHECK(koord_test_value(t, "pod_cpu_usage", "pod_name=cart,kind=user") == 1.5);
  CHECK(std::isnan(koord_test_value(t, "pod_cpu_usage", "pod_name=till")));
}

TEST_CASE("a file that is not a module has no host") {
  CHECK(koord_test_open([]() -> const koord_module* { return nullptr; }) == nullptr);
}
