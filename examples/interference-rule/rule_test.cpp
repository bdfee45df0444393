// SPDX-License-Identifier: Apache-2.0
// Tests the rule, then the plugin on the in-memory host. No framework: CHECK prints the line and continues.
#include <koordetector/test.h>

#include <cstdio>
#include <string>

#include "throttling.hpp"

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? void() : (++failures, void(std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition))))

static const std::uint64_t second = 1000000000;
using State = Throttling::State;

static void three_windows_of_five_confirm_and_ten_clear() {
  Throttling rule(0.05);
  std::uint64_t at = second;
  std::int64_t throttled = 0;
  const auto window = [&](std::int64_t ms) { return rule.add(at += second, throttled += ms * 1000000); };
  CHECK(rule.add(at, throttled) == State::quiet);
  CHECK(window(100) == State::quiet);
  CHECK(window(0) == State::quiet);
  CHECK(window(300) == State::quiet);
  CHECK(window(200) == State::stands);
  CHECK(rule.finding().over == 3);
  CHECK(rule.finding().seen == 4);
  CHECK(rule.finding().from_ns == second);
  CHECK(rule.finding().to_ns == 5 * second);
  CHECK(rule.finding().share > 0.199 && rule.finding().share < 0.201);
  for (int i = 0; i < 9; ++i) CHECK(window(0) == State::stands);
  CHECK(window(0) == State::ended);
  CHECK(window(0) == State::quiet);
  CHECK(window(300) == State::quiet);
}

static void a_counter_that_was_reset_is_no_window() {
  Throttling rule(0.05);
  CHECK(rule.add(1 * second, 900) == State::quiet);
  for (std::uint64_t i = 2; i < 9; ++i) CHECK(rule.add(i * second, 0) == State::quiet);
  CHECK(rule.finding().over == 0);
  CHECK(rule.add(8 * second, 5) == State::quiet);  // the same reading again
}

// Sets the total throttled time of a cgroup v2 node's only container.
static void throttle(koord_test* test, long ms) {
  const std::string text = "usage_usec 1\nnr_periods 1\nnr_throttled 1\nthrottled_usec " + std::to_string(ms * 1000);
  koord_test_file(test, "cgroup/pod1/app/cpu.stat", (text + "\n").c_str());
}

static koord_test* started(const char* config) {
  koord_test* test = koord_test_open(koord_entry_v1);
  koord_test_file(test, "cgroup/cgroup.controllers", "cpu\n");
  throttle(test, 0);
  koord_test_pods(test, "items:\n- metadata: {uid: u1, namespace: shop, name: cart, annotations: "
                        "{koordetector.sh/cgroup-dir: pod1, koordetector.sh/cgroup-dir.app: pod1/app}}\n"
                        "  spec: {containers: [{name: app}]}\n  status: {phase: Running}\n");
  CHECK(koord_test_start(test, nullptr, config) == KOORD_OK);
  CHECK(koord_test_tick(test) == KOORD_OK);
  return test;
}

static void tick(koord_test* test, long ms) {
  throttle(test, ms);
  koord_test_advance(test, second);
  CHECK(koord_test_tick(test) == KOORD_OK);
}

static void a_throttled_container_gets_a_verdict_until_it_is_quiet() {
  koord_test* test = started(nullptr);
  for (long i = 1; i <= 2; ++i) tick(test, 200 * i);
  CHECK(koord_test_verdict(test, 0) == nullptr);
  tick(test, 600);
  const koord_verdict* verdict = koord_test_verdict(test, 0);
  CHECK(verdict != nullptr);
  if (verdict) {
    CHECK(verdict->kind == KOORD_VERDICT_SELF_QUOTA);
    CHECK(verdict->resource == KOORD_RESOURCE_CPU);
    CHECK(verdict->value > 0.19 && verdict->value < 0.21);
    CHECK(verdict->threshold == 0.05);
    CHECK(verdict->windows_over == 3);
    CHECK(std::string(verdict->plugin.p, verdict->plugin.n) == "com.example.throttling-rule");
    CHECK(std::string(verdict->victim_name.p, verdict->victim_name.n) == "shop/cart/app");
  }
  CHECK(koord_test_verdict(test, 1) == nullptr);
  for (int i = 0; i < 9; ++i) tick(test, 600);
  CHECK(koord_test_verdict(test, 0) != nullptr);
  tick(test, 600);
  CHECK(koord_test_verdict(test, 0) == nullptr);
  koord_test_close(test);
}

static void a_verdict_ends_with_its_container_and_with_the_plugin() {
  koord_test* test = started(nullptr);
  for (long i = 1; i <= 3; ++i) tick(test, 200 * i);
  CHECK(koord_test_verdict(test, 0) != nullptr);
  CHECK(koord_test_end(test) == KOORD_OK);
  CHECK(koord_test_verdict(test, 0) == nullptr);
  koord_test_close(test);
  test = started(nullptr);
  for (long i = 1; i <= 3; ++i) tick(test, 200 * i);
  koord_test_pods(test, "items: []\n");
  CHECK(koord_test_verdict(test, 0) == nullptr);
  CHECK(koord_test_tick(test) == KOORD_OK);
  koord_test_close(test);
}

static void the_limit_is_a_setting() {
  koord_test* test = started("{\"limit\": 0.5}");
  for (long i = 1; i <= 6; ++i) tick(test, 200 * i);
  CHECK(koord_test_verdict(test, 0) == nullptr);
  koord_test_close(test);
  test = koord_test_open(koord_entry_v1);
  CHECK(koord_test_start(test, nullptr, "{\"limit\": 2}") == KOORD_E_INVALID);
  koord_test_close(test);
}

int main() {
  three_windows_of_five_confirm_and_ten_clear();
  a_counter_that_was_reset_is_no_window();
  a_throttled_container_gets_a_verdict_until_it_is_quiet();
  a_verdict_ends_with_its_container_and_with_the_plugin();
  the_limit_is_a_setting();
  std::printf("5 tests, %d checks failed\n", failures);
  return failures != 0;
}
