// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "core/metric/host_metrics.hpp"
#include "exposition_checker.hpp"
#include "fixture.hpp"

using namespace koord;
using namespace koord::metric;
using namespace koord::test;

TEST_CASE("a line has the host's labels in their order, then the metric's own labels, sorted") {
  Registry registry("n1");
  auto id = registry.define("p", gauge("cpu_usage_cores"));
  auto series = registry.series("p", *id, container(7), {{"zone", "z"}, {"cpu", "0"}});
  CHECK(record(registry, *series, 0.25));
  CHECK(text(registry) == "# HELP koordetector_cpu_usage_cores A gauge.\n"
                          "# TYPE koordetector_cpu_usage_cores gauge\n"
                          "koordetector_cpu_usage_cores{node=\"n1\",container_id=\"containerd://"
                          "ab\",container_name=\"web\",pod_uid=\"u1\","
                          "pod_name=\"web-0\",pod_namespace=\"default\",cpu=\"0\",zone=\"z\"} 0.25\n");
}

TEST_CASE("a series without any label has no braces") {
  Registry registry;
  set(registry, gauge("up"), 1);
  CHECK(text(registry).ends_with("\nkoordetector_up 1\n"));
}

TEST_CASE("backslash, quote and newline of a label value are escaped") {
  Registry registry;
  set(registry, gauge("g"), 1, {{"path", "a\\b\"c\nd"}});
  CHECK(text(registry).ends_with("koordetector_g{path=\"a\\\\b\\\"c\\nd\"} 1\n"));
}

TEST_CASE("backslash and newline of a help text are escaped") {
  Registry registry;
  Desc desc = gauge("g");
  desc.help = "one\\two\nthree \"four\"";
  set(registry, desc, 1);
  CHECK(text(registry).starts_with("# HELP koordetector_g one\\\\two\\nthree \"four\"\n"));
}

TEST_CASE("an empty label is left out") {
  Registry registry;
  set(registry, gauge("g"), 1, {{"a", ""}, {"b", "x"}});
  CHECK(text(registry).ends_with("koordetector_g{b=\"x\"} 1\n"));
}

TEST_CASE("families stand by name, each with one HELP for all its series") {
  Registry registry;
  set(registry, gauge("b"), 1, {{"i", "0"}});
  set(registry, counter("a"), 1);
  set(registry, gauge("b"), 2, {{"i", "1"}});
  CHECK(text(registry) == "# HELP koordetector_a A counter.\n# TYPE koordetector_a counter\nkoordetector_a 1\n"
                          "# HELP koordetector_b A gauge.\n# TYPE koordetector_b gauge\n"
                          "koordetector_b{i=\"0\"} 1\nkoordetector_b{i=\"1\"} 2\n");
}

TEST_CASE(
    "a rule leaves out series of a metric by the kind of their subject, and a family without series with its help") {
  Registry registry("n1");
  const auto metric = registry.define("p", gauge("usage"));
  const Subject pod{8, {{"pod_uid", "u1"}}}, service{9, {{"container_name", "nginx.service"}}};
  int value = 0;
  for (const Subject& subject : {Subject(), container(7), pod, service})
    CHECK(record(registry, *registry.series("p", *metric, subject), ++value));
  const auto text_of = [&](const Exported& exported) {
    std::string out;
    registry.write_text(out, kNow, [&](const Desc&) { return exported; });
    return out;
  };
  CHECK(text_of({}) == text(registry));
  const std::string node_only = text_of({.node = true, .pods = false, .containers = false, .zero_containers = true});
  CHECK(node_only.ends_with("gauge\nkoordetector_usage{node=\"n1\"} 1\n"));
  const std::string no_containers = text_of({.node = true, .pods = true, .containers = false, .zero_containers = true});
  CHECK(no_containers.find("} 3\n") != std::string::npos);
  CHECK(no_containers.find("container_") == std::string::npos);
  CHECK(text_of(kNotExported).empty());
}

TEST_CASE("a rule leaves out a container's series while its value is 0") {
  Registry registry;
  const auto series = registry.series("p", *registry.define("p", gauge("verdict")), container(7));
  const ExportRule raised = [](const Desc&) {
    return Exported{.node = true, .pods = true, .containers = true, .zero_containers = false};
  };
  const auto text_now = [&] {
    std::string out;
    registry.write_text(out, kNow, raised);
    return out;
  };
  CHECK(record(registry, *series, 0));
  CHECK(text_now().empty());
  CHECK(record(registry, *series, 1));
  CHECK(text_now().ends_with("} 1\n"));
}

TEST_CASE("a histogram is written as buckets up to +Inf, sum and count") {
  Registry registry("n1");
  auto id = registry.series("p", *registry.define("p", histogram("wait_seconds")), {}, {{"class", "be"}});
  std::uint64_t cumulative[] = {1, 3, 4};
  HistogramPoint point{*id, cumulative, 3, 2.5};
  CHECK(registry.record_histograms("p", kNow, {&point, 1}));
  CHECK(text(registry) == "# HELP koordetector_wait_seconds A histogram.\n# TYPE koordetector_wait_seconds histogram\n"
                          "koordetector_wait_seconds_bucket{node=\"n1\",class=\"be\",le=\"0.5\"} 1\n"
                          "koordetector_wait_seconds_bucket{node=\"n1\",class=\"be\",le=\"1\"} 3\n"
                          "koordetector_wait_seconds_bucket{node=\"n1\",class=\"be\",le=\"+Inf\"} 4\n"
                          "koordetector_wait_seconds_sum{node=\"n1\",class=\"be\"} 2.5\n"
                          "koordetector_wait_seconds_count{node=\"n1\",class=\"be\"} 4\n");
}

TEST_CASE("a histogram without labels has the bound as its only one") {
  Registry registry;
  auto id = registry.series("p", *registry.define("p", histogram("h")), {});
  std::uint64_t cumulative[] = {0, 0, 1};
  HistogramPoint point{*id, cumulative, 3, 9};
  CHECK(registry.record_histograms("p", kNow, {&point, 1}));
  CHECK(text(registry).find("koordetector_h_bucket{le=\"0.5\"} 0\n") != std::string::npos);
  CHECK(text(registry).ends_with("koordetector_h_sum 9\nkoordetector_h_count 1\n"));
}

TEST_CASE("a number is written whole, or in the shortest form that reads back as itself") {
  Registry registry;
  auto last_word = [&](double value) {
    set(registry, gauge("g"), value);
    std::string out = text(registry);
    return out.substr(out.rfind(' ') + 1);
  };
  CHECK(last_word(1234567890123) == "1234567890123\n");
  CHECK(last_word(-3) == "-3\n");
  CHECK(last_word(-0.0) == "0\n");
  CHECK(last_word(0.1) == "0.1\n");
  CHECK(last_word(1e18) == "1e+18\n");
}

TEST_CASE("NaN never appears: the last value stays") {
  Registry registry;
  auto id = set(registry, gauge("g"), 5);
  CHECK(record(registry, id, std::nan(""))->absent == 1);
  CHECK(text(registry).ends_with("koordetector_g 5\n"));
}

TEST_CASE("a series without a value yet has no line, and its family no HELP") {
  Registry registry;
  auto id = registry.series("p", *registry.define("p", gauge("g")), {});
  CHECK(record(registry, *id, std::nan("")));
  CHECK(text(registry).empty());
}

TEST_CASE("a series leaves the text with its subject, at once") {
  Registry registry;
  auto id = registry.series("p", *registry.define("p", gauge("g")), container(7));
  CHECK(record(registry, *id, 1));
  registry.end_subject(7);
  CHECK(text(registry).empty());
}

TEST_CASE("a series without a sample for its owner's time is left out and comes back") {
  Registry registry;
  auto id = set(registry, gauge("g"), 1);
  CHECK_FALSE(text(registry, kNow + std::chrono::minutes(5)).empty());
  CHECK(text(registry, kNow + std::chrono::minutes(5) + Duration(1)).empty());
  registry.set_stale_after("p", std::chrono::seconds(3));
  CHECK(text(registry, kNow + std::chrono::seconds(4)).empty());
  CHECK(record(registry, id, 2, kNow + std::chrono::seconds(4)));
  CHECK_FALSE(text(registry, kNow + std::chrono::seconds(4)).empty());
}

TEST_CASE("a metric that is not exported has no line") {
  Registry registry;
  Desc desc = gauge("g");
  desc.exported = false;
  set(registry, desc, 1);
  CHECK(text(registry).empty());
}

TEST_CASE("the text of registry and host together is one valid document") {
  Registry registry("n\"1");
  for (int i = 0; i < 3000; ++i) set(registry, gauge("g"), i * 0.37, {{"i", "\\\n\"" + std::to_string(i)}});
  set(registry, counter("c"), 1e300 * 0);
  std::uint64_t cumulative[] = {1, 2, 3};
  HistogramPoint point{*registry.series("p", *registry.define("p", histogram("h")), container(1)), cumulative, 3, 1};
  REQUIRE(registry.record_histograms("p", kNow, {&point, 1}));
  HostMetrics host("n\"1");
  host.gauge("host_resident_bytes", "Memory.\nMore.").set(1e6);
  host.counter("plugin_ticks_total", "Ticks.", {{"plugin", "a"}}).add();
  host.histogram("http_seconds", "Time.", {0.1, 1}).observe(0.5);
  std::string out = text(registry);
  host.write_text(out);
  Exposition read = read_exposition(out);
  CHECK(read.error == "");
  CHECK(read.samples.size() == 3000 + 1 + 5 + 1 + 1 + 5);
  CHECK(read.samples.at("koordetector_plugin_ticks_total{node=\"n\\\"1\",plugin=\"a\"}") == 1);
}

TEST_CASE("the checker of these tests refuses what is not valid") {
  const std::string head = "# HELP a b\n# TYPE a gauge\n";
  CHECK(read_exposition(head + "a 1\n").error.empty());
  for (const char* bad : {"a 1", "a NaN\n", "a{x=\"1\",} 1\n", "a{x=\"1\"y=\"2\"} 1\n", "a{x=\"\"\"} 1\n", "b 1\n",
                          "a 1\na 2\n", "a{x=\"1\",x=\"2\"} 1\n", "a 1\n# HELP a b\n", "a_sum 1\n", "\n"}) {
    CHECK_MESSAGE(!read_exposition(head + bad).error.empty(), bad);
  }
}
