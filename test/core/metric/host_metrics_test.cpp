// SPDX-License-Identifier: Apache-2.0
#include "core/metric/host_metrics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

using namespace koord::metric;

TEST_CASE("the same name and labels give the same metric of the host") {
  HostMetrics metrics;
  metrics.counter("plugin_errors_total", "Errors.", {{"plugin", "a"}}).add(2);
  metrics.counter("plugin_errors_total", "Errors.", {{"plugin", "a"}}).add();
  CHECK(metrics.counter("plugin_errors_total", "Errors.", {{"plugin", "a"}}).value() == 3);
  CHECK(metrics.counter("plugin_errors_total", "Errors.", {{"plugin", "b"}}).value() == 0);
}

TEST_CASE("a metric of the host never becomes NaN or infinite") {
  HostMetrics metrics;
  HostGauge gauge = metrics.gauge("host_x", "X.");
  gauge.set(4);
  gauge.set(std::nan(""));
  gauge.set(std::numeric_limits<double>::infinity());
  CHECK(gauge.value() == 4);
}

TEST_CASE("a counter of the host never falls") {
  HostMetrics metrics;
  HostCounter counter = metrics.counter("http_requests_total", "Requests.");
  counter.add(-1);
  CHECK(counter.value() == 0);
}

TEST_CASE("a value that is read when asked for is as new as the text") {
  HostMetrics metrics;
  int reads = 0;
  HostGauge gauge = metrics.gauge("host_reads", "Reads.");
  metrics.on_collect([&] { gauge.set(++reads); });
  std::string out;
  metrics.write_text(out);
  out.clear();
  metrics.write_text(out);
  CHECK(out == "# HELP koordetector_host_reads Reads.\n# TYPE koordetector_host_reads "
               "gauge\nkoordetector_host_reads 2\n");
}

TEST_CASE("a rule leaves out series of the host by family and value, and families without series") {
  HostMetrics metrics;
  for (const char* plugin : {"a", "b"}) metrics.gauge("plugin_up", "Up.", {{"plugin", plugin}}).set(plugin[0] == 'a');
  metrics.counter("plugin_errors_total", "Errors.");
  metrics.counter("plugin_calls_total", "Calls.").add(7);
  metrics.gauge("host_capability", "Capability.", {{"capability", "broken"}}).set(-1);
  metrics.gauge("host_capability", "Capability.", {{"capability", "there"}}).set(1);
  metrics.histogram("host_hook_seconds", "Time.", {1}).observe(0);
  std::string out;
  metrics.write_text(out, [](std::string_view family) {
    if (family == "plugin_up") return HostExported::unless_one;
    if (family == "plugin_errors_total") return HostExported::unless_zero;
    if (family == "plugin_calls_total") return HostExported::never;
    if (family == "host_capability") return HostExported::if_negative;
    return HostExported::always;
  });
  CHECK(out.find("plugin_up{plugin=\"b\"} 0\n") != out.npos);
  CHECK(out.find("plugin=\"a\"") == out.npos);
  CHECK(out.find("plugin_errors") == out.npos);
  CHECK(out.find("plugin_calls") == out.npos);
  CHECK(out.find("capability=\"broken\"} -1\n") != out.npos);
  CHECK(out.find("capability=\"there\"") == out.npos);
  CHECK(out.find("host_hook_seconds_count 1\n") != out.npos);
}

TEST_CASE("a name that plugins may use is refused for the host") {
  HostMetrics metrics;
  CHECK_THROWS_AS(metrics.gauge("cpu_usage", "X."), std::invalid_argument);
}

TEST_CASE("a default handle ignores calls") {
  HostCounter().add();
  HostGauge().set(1);
  HostHistogram().observe(1);
  CHECK(HostGauge().value() == 0);
}
