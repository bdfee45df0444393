// SPDX-License-Identifier: Apache-2.0
// Tests the pure parts, then the plugin on the in-memory host. No framework: CHECK prints the line and continues.
#include <koordetector/test.h>
#include <cstdint>
#include <cstdio>
#include <string>

#include "ceiling.hpp"
#include "refusals.hpp"

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? void() : (++failures, void(std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition))))

static const char pods[] = R"({"items": [
  {"metadata": {"uid": "u1", "namespace": "shop", "name": "cart", "labels": {"koordinator.sh/qosClass": "LS"}},
   "spec": {"containers": [{"name": "web"}]}, "status": {"phase": "Running", "qosClass": "Burstable"}},
  {"metadata": {"uid": "u2", "namespace": "reports", "name": "nightly", "labels": {"koordinator.sh/qosClass": "BE"}},
   "spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Running", "qosClass": "BestEffort"}},
  {"metadata": {"uid": "u3", "namespace": "reports", "name": "waits", "labels": {"koordinator.sh/qosClass": "BE"}},
   "spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Pending", "qosClass": "BestEffort"}}]})";
static const char nightly[] = "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu2.slice";
static const std::uint64_t second = 1000000000;

// Returns a node with four CPUs and these pods.
static koord_test* node() {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "sys/devices/system/cpu/online", "0-3\n");
  koord_test_pods(test, pods);
  return test;
}

static std::string value_of(koord_test* test) {
  const koord_intent* intent = koord_test_proposal(test, 0);
  return intent ? intent->value.p : "(none)";
}

static void a_busy_node_gives_each_best_effort_pod_a_ceiling() {
  const Plan busy = plan({3.0, 4, {"a", "b"}}, {65, 500});
  CHECK((busy.cgroups == std::vector<std::string>{"a", "b"}));
  CHECK(busy.cpu_max == "50000 100000");
  CHECK(busy.reason == "the node uses 3.00 cores, more than 2.60");
  CHECK(
      (busy.inputs == decltype(Plan::inputs){{"node_cpu_usage", "3.00"}, {"node_cpus", "4"}, {"busy_cores", "2.60"}}));
}

static void a_calm_node_and_one_that_is_not_known_get_no_plan() {
  CHECK(plan({2.6, 4, {"a"}}, {65, 500}).cgroups.empty());
  CHECK(plan({0.0, 4, {"a"}}, {0, 500}).cgroups.empty());
  CHECK(plan({std::nullopt, 4, {"a"}}, {0, 500}).cgroups.empty());
  CHECK(plan({3.0, 0, {"a"}}, {0, 500}).cgroups.empty());
}

static void a_refusal_is_reported_once_and_again_when_its_reason_changes() {
  Refusals refusals;
  CHECK(refusals.new_line("a", KOORD_E_DENIED, "") ==
        "cpu.max of 'a' is not ours: the operator lets this strategy run and not write");
  CHECK(!refusals.new_line("a", KOORD_E_DENIED, ""));
  CHECK(refusals.new_line("a", KOORD_E_AGAIN, "com.acme.quota") ==
        "cpu.max of 'a' is not ours: the intent of 'com.acme.quota' applies");
  CHECK(!refusals.new_line("a", KOORD_OK, ""));
  CHECK(refusals.new_line("a", KOORD_E_DENIED, ""));
  refusals.keep_only({"a"});
  CHECK(!refusals.new_line("a", KOORD_E_DENIED, ""));
  refusals.keep_only({"b"});
  CHECK(refusals.new_line("a", KOORD_E_DENIED, ""));
}

static void the_plugin_proposes_a_ceiling_for_running_best_effort_pods_while_the_node_is_busy() {
  koord_test* test = node();
  CHECK(koord_test_start(test, nullptr, "{}") == KOORD_OK);
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 3.5);
  CHECK(koord_test_tick(test) == KOORD_OK);
  const koord_intent* intent = koord_test_proposal(test, 0);
  CHECK(intent != nullptr);
  CHECK(intent && std::string(intent->knob.p) == "cpu.max");
  CHECK(intent && std::string(intent->cgroup_dir.p) == nightly);
  CHECK(intent && std::string(intent->value.p) == "50000 100000");
  CHECK(intent && std::string(intent->reason.p) == "the node uses 3.50 cores, more than 2.60");
  CHECK(koord_test_proposal(test, 1) == nullptr);
  CHECK(koord_test_applied(test, KOORD_E_DENIED, "max 100000", nullptr) == KOORD_OK);
  koord_test_advance(test, 120 * second);
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 0.5);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_proposal(test, 0) == nullptr);
  koord_test_close(test);
}

static void the_usage_is_the_average_of_the_window_and_without_a_sample_nothing_is_proposed() {
  koord_test* test = node();
  CHECK(koord_test_start(test, nullptr, R"({"windowSeconds": 10})") == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(value_of(test) == "(none)");
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 4.0);
  koord_test_advance(test, 5 * second);
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 1.0);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(value_of(test) == "(none)");  // 2.5 on average
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 4.0);
  koord_test_advance(test, 11 * second);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(value_of(test) == "(none)");
  koord_test_close(test);
}

static void settings_change_while_it_runs_and_wrong_ones_change_nothing() {
  koord_test* test = node();
  CHECK(koord_test_start(test, nullptr, nullptr) == KOORD_OK);
  CHECK(koord_test_configure(test, R"({"busyPercent": 10, "ceilingMilliCores": 1500})") == KOORD_OK);
  CHECK(koord_test_configure(test, R"({"busyPercent": 101})") != KOORD_OK);
  CHECK(koord_test_configure(test, R"({"ceilingMilliCores": 9})") != KOORD_OK);
  koord_test_sample(test, "node_cpu_usage", nullptr, nullptr, 0.5);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(value_of(test) == "150000 100000");
  koord_test_close(test);
}

int main() {
  a_busy_node_gives_each_best_effort_pod_a_ceiling();
  a_calm_node_and_one_that_is_not_known_get_no_plan();
  a_refusal_is_reported_once_and_again_when_its_reason_changes();
  the_plugin_proposes_a_ceiling_for_running_best_effort_pods_while_the_node_is_busy();
  the_usage_is_the_average_of_the_window_and_without_a_sample_nothing_is_proposed();
  settings_change_while_it_runs_and_wrong_ones_change_nothing();
  std::printf("6 tests, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
