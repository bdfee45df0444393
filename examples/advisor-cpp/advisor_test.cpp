// SPDX-License-Identifier: Apache-2.0
// Tests the pure part, then the plugin on the in-memory host. No framework: CHECK prints the line and continues.
#include <koordetector/test.h>
#include <cmath>
#include <cstdio>
#include <string>

#include "kernel_activity.hpp"

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? void() : (++failures, void(std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition))))

static const char stat[] =
    "cpu  10 0 20 300 0 0 0 0 0 0\ncpu0 10 0 20 300 0 0 0 0 0 0\nintr 1000 2 3\nctxt 123456\nbtime 1700000000\n"
    "processes 789\nprocs_running 3\nprocs_blocked 1\nsoftirq 5 1 1\n";

static void each_line_is_found_by_its_key() {
  const KernelActivity activity = parse_kernel_activity(stat);
  CHECK(activity.context_switches == 123456);
  CHECK(activity.forks == 789);
  CHECK(activity.runnable_tasks == 3);
  CHECK(activity.blocked_tasks == 1);
}

static void what_is_not_there_or_no_number_is_nothing() {
  CHECK(!parse_kernel_activity("").context_switches);
  CHECK(!parse_kernel_activity("ctxt\nctxt \nctxt x\nctxt 1x\nctxtual 5\n").context_switches);
  CHECK(!parse_kernel_activity("ctxt 99999999999999999999999\n").context_switches);
  CHECK(parse_kernel_activity("ctxt 5").context_switches == 5);
}

static void the_plugin_appends_what_the_file_says() {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/stat", stat);
  CHECK(koord_test_start(test, nullptr, nullptr) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_context_switches_total", nullptr) == 123456);
  CHECK(koord_test_value(test, "example_runnable_tasks", nullptr) == 3);
  koord_test_file(test, "proc/stat", "ctxt 123460\nprocs_running 1\n");
  koord_test_advance(test, 1000000000);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_context_switches_total", nullptr) == 123460);
  CHECK(koord_test_value(test, "example_runnable_tasks", nullptr) == 1);
  koord_test_close(test);
}

static void a_node_without_the_line_cannot_have_it() {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/stat", "cpu 1 2 3\n");
  CHECK(koord_test_start(test, nullptr, nullptr) == KOORD_E_UNSUPPORTED);
  CHECK(std::string(koord_test_why(test)).find("/proc/stat has no line 'ctxt'") != std::string::npos);
  koord_test_close(test);
}

static void a_file_that_cannot_be_read_fails_the_tick_alone() {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/stat", stat);
  CHECK(koord_test_start(test, nullptr, nullptr) == KOORD_OK);
  koord_test_remove(test, "proc/stat");
  CHECK(koord_test_tick(test) != KOORD_OK);
  CHECK(std::isnan(koord_test_value(test, "example_forks_total", nullptr)));
  koord_test_file(test, "proc/stat", stat);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_forks_total", nullptr) == 789);
  koord_test_close(test);
}

static void the_tasks_of_a_pod_are_counted_under_its_labels() {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "proc/stat", stat);
  koord_test_file(test, "cgroup/cgroup.controllers", "cpu memory pids\n");
  koord_test_file(test, "cgroup/web/pids.current", "7\n");
  CHECK(
      koord_test_pods(
          test,
          "items: [{metadata: {uid: u1, namespace: shop, name: cart, annotations: {koordetector.sh/cgroup-dir: web}}, "
          "spec: {containers: []}}]") == KOORD_OK);
  CHECK(koord_test_start(test, nullptr, nullptr) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  CHECK(koord_test_value(test, "example_tasks", "pod_namespace=shop,pod_name=cart") == 7);
  koord_test_close(test);
}

int main() {
  each_line_is_found_by_its_key();
  what_is_not_there_or_no_number_is_nothing();
  the_plugin_appends_what_the_file_says();
  a_node_without_the_line_cannot_have_it();
  a_file_that_cannot_be_read_fails_the_tick_alone();
  the_tasks_of_a_pod_are_counted_under_its_labels();
  std::printf("6 tests, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
