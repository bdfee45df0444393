// SPDX-License-Identifier: Apache-2.0
// Tests the pure part, then the plugin on the in-memory host. No framework: CHECK prints the line and continues.
#include <koordetector/test.h>
#include <cstdio>
#include <string>

#include "naming.hpp"

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? void() : (++failures, void(std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition))))

static std::string text(const char* given) { return given ? given : "(none)"; }

static void without_a_list_all_metrics_come_in() {
  CHECK((Naming{"", {}}.name_of("up") == "up"));
  CHECK((Naming{"acme_", {}}.name_of("up") == "acme_up"));
}

static void a_list_names_metrics_or_their_beginnings() {
  const Naming naming{"", {"up", "node_cpu_*"}};
  CHECK(naming.name_of("up") == "up");
  CHECK(naming.name_of("node_cpu_seconds_total") == "node_cpu_seconds_total");
  CHECK(!naming.name_of("upper"));
  CHECK(!naming.name_of("node_memory_bytes"));
  CHECK((Naming{"", {"*"}}.name_of("anything")));
}

static void the_configuration_says_where_and_how() {
  koord_test* test = koord_test_open(koord_entry_v1);
  CHECK(
      koord_test_start(
          test, nullptr,
          R"({"url": "http://127.0.0.1:9100/metrics", "prefix": "node_exporter_", "allow": ["node_load1", "node_cpu_*"]})") ==
      KOORD_OK);
  CHECK(text(koord_test_url(test)) == "http://127.0.0.1:9100/metrics");
  CHECK(text(koord_test_map_metric(test, "node_load1")) == "node_exporter_node_load1");
  CHECK(text(koord_test_map_metric(test, "node_cpu_seconds_total")) == "node_exporter_node_cpu_seconds_total");
  CHECK(text(koord_test_map_metric(test, "go_threads")) == "(none)");
  koord_test_close(test);
}

static void another_configuration_holds_at_once() {
  koord_test* test = koord_test_open(koord_entry_v1);
  CHECK(koord_test_start(test, nullptr, R"({"url": "http://127.0.0.1:9100/metrics"})") == KOORD_OK);
  CHECK(koord_test_configure(test, R"({"url": "unix:/run/x.sock:/metrics", "prefix": "x_"})") == KOORD_OK);
  CHECK(text(koord_test_url(test)) == "unix:/run/x.sock:/metrics");
  CHECK(text(koord_test_map_metric(test, "up")) == "x_up");
  koord_test_close(test);
}

static void a_wrong_configuration_is_refused() {
  koord_test* test = koord_test_open(koord_entry_v1);
  CHECK(koord_test_start(test, nullptr, "{}") != KOORD_OK);
  CHECK(koord_test_start(test, nullptr, R"({"url": "https://127.0.0.1/"})") != KOORD_OK);
  CHECK(koord_test_start(test, nullptr, R"({"url": "http://127.0.0.1/", "alow": []})") != KOORD_OK);
  koord_test_close(test);
}

int main() {
  without_a_list_all_metrics_come_in();
  a_list_names_metrics_or_their_beginnings();
  the_configuration_says_where_and_how();
  another_configuration_holds_at_once();
  a_wrong_configuration_is_refused();
  std::printf("5 tests, %d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
