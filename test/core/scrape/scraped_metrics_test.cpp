// SPDX-License-Identifier: Apache-2.0
#include "core/scrape/scraped_metrics.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;
using namespace koord::scrape;
using namespace koord::service;

namespace {

struct Scrapes {
  metric::Registry registry{"node"};
  ScrapedDefinitions definitions{registry, "test"};
  const std::shared_ptr<ByteBudget> memory = std::make_shared<ByteBudget>(1 << 20);
  ScrapedMetrics::Mapping mapping;
  ScrapedMetrics metrics{registry, definitions, "test", mapping_by_this(), ScrapedMetrics::kNoLimit, ByteShare(memory)};
  std::uint64_t seconds = 0;

  Result<ScrapedMetrics::Outcome> take(const std::string& text, exposition::Syntax syntax = exposition::Syntax::text) {
    auto document = exposition::Document::read(text, syntax);
    REQUIRE(document);
    return metrics.take(*document, from_ns(++seconds * 1'000'000'000));
  }
  // Returns a mapping that calls `mapping`, which a test may set later.
  ScrapedMetrics::Mapping mapping_by_this() {
    return {.metrics = [this](auto all) { return mapping.metrics ? mapping.metrics(all) : CallResult(); },
            .series = [this](auto series) { return mapping.series ? mapping.series(series) : CallResult(); },
            .samples = {},
            .subject = {}};
  }
  // Returns a scrape with `n` series of one metric, with a text of `bytes` each.
  std::string series_of(std::string_view metric, int n, std::size_t bytes) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += std::string(metric) + "{i=\"" + std::to_string(i) + "\",text=\"" + std::string(bytes, 'x') + "\"} 1\n";
    return text;
  }
  // Returns the lines of the exposition without comments.
  std::string shown() {
    std::string text, lines;
    registry.write_text(text, from_ns(seconds * 1'000'000'000));
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      if (text[at] != '#') lines += text.substr(at, end + 1 - at);
    }
    return lines;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Scrapes,
                  "a scrape with more series than fit into its memory is not taken, and the last values stay") {
  REQUIRE(take("a 1\n"));
  const std::uint64_t before = memory->used();
  CHECK(before > 0);
  const auto outcome = take(series_of("b", 100, 16 << 10));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().is(std::errc::not_enough_memory));
  CHECK(outcome.error().text.find("expected at most 1048576 together") != std::string::npos);
  CHECK(shown() == "koordetector_a{node=\"node\"} 1\n");
  CHECK(memory->used() < before + (1 << 10));  // the name of the new metric
}

TEST_CASE_FIXTURE(Scrapes, "names of metrics count as long as they are remembered") {
  std::string name(16 << 10, 'n');
  int taken = 0;
  while (taken < 100 && take(name + std::to_string(taken) + " 1\n")) ++taken;
  CHECK(taken > 10);
  CHECK(taken < 64);
  metrics.forget();
  CHECK(memory->used() == 0);
}

TEST_CASE_FIXTURE(Scrapes, "labels that the plugin gives to its series count, after each part of them") {
  std::size_t asked = 0;
  mapping.series = [&](std::span<ScrapedSeries> series) {
    asked += series.size();
    for (ScrapedSeries& one : series) one.change.labels.emplace_back("more", std::string(1 << 10, 'x'));
    return CallResult();
  };
  CHECK_FALSE(take(series_of("a", 2000, 0)));
  CHECK(asked < 2000);
}

TEST_CASE_FIXTURE(Scrapes, "refused metric names of the plugin are counted after each part") {
  std::size_t asked = 0;
  mapping.metrics = [&](std::span<ScrapedMetric> all) {
    asked += all.size();
    for (ScrapedMetric& one : all) one.mapped = std::string(4096, 'x');
    return CallResult();
  };
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "a" + std::to_string(i) + " 1\n";
  CHECK_FALSE(take(text));
  CHECK(asked < 2000);
}

TEST_CASE_FIXTURE(Scrapes, "series that vanish release their memory") {
  REQUIRE(take(series_of("a", 20, 16 << 10)));
  REQUIRE(memory->used() > 20 * (16 << 10));
  REQUIRE(take(series_of("a", 1, 0)));
  CHECK(memory->used() < 1 << 10);
}

TEST_CASE_FIXTURE(Scrapes, "types, helps and histograms reach the registry as they are") {
  REQUIRE(take(
      "# HELP h Times.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"));
  std::string text;
  registry.write_text(text, from_ns(1'000'000'000));
  CHECK(
      text ==
      "# HELP koordetector_h Times.\n# TYPE koordetector_h histogram\nkoordetector_h_bucket{node=\"node\",le=\"0.5\"} 1\n"
      "koordetector_h_bucket{node=\"node\",le=\"+Inf\"} 2\nkoordetector_h_sum{node=\"node\"} 3\nkoordetector_h_count{node=\"node\"} 2\n");
}

TEST_CASE_FIXTURE(Scrapes, "labels that the host sets itself keep their value under 'exported_'") {
  REQUIRE(take("a{node=\"x\",pod_name=\"p\",le=\"1\"} 1\n"));
  CHECK(shown() == "koordetector_a{node=\"node\",exported_le=\"1\",exported_node=\"x\",exported_pod_name=\"p\"} 1\n");
}

TEST_CASE_FIXTURE(Scrapes, "a colon in a name becomes an underscore") {
  REQUIRE(take("job:load:mean5m 1\n"));
  CHECK(shown() == "koordetector_job_load_mean5m{node=\"node\"} 1\n");
}

TEST_CASE_FIXTURE(Scrapes, "samples that the registry would refuse are left out and counted, the rest is taken") {
  auto outcome = take(
      "# TYPE c counter\nc -1\nhost_x 1\na +Inf\nb 1\nb 2\n# TYPE h histogram\nh_bucket{x=\"1\",le=\"1\"} 1\nh_count{x=\"1\"} 1\n"
      "h_bucket{x=\"2\",le=\"2\"} 1\nh_count{x=\"2\"} 1\nh_bucket{x=\"3\",le=\"1\"} 5\nh_count{x=\"3\"} 1\n");
  REQUIRE(outcome);
  CHECK(outcome->taken == 2);
  CHECK(outcome->left_out == 6);
  CHECK(outcome->left_out_because ==
        "histogram 'h': found a bucket that counts less than the one below it, expected cumulative counts");
  REQUIRE(take("# TYPE c counter\nc -1\n"));
  CHECK(take("# TYPE c counter\nc -1\n")->left_out_because ==
        "metric 'c': found a negative value, expected a counter's");
  CHECK(take("a +Inf\n")->left_out_because == "metric 'a': found a value beyond 2^62 times its resolution");
}

TEST_CASE_FIXTURE(Scrapes, "NaN is no value this time, and the series stays") {
  REQUIRE(take("a 1\n"));
  REQUIRE(take("a NaN\n"));
  CHECK(shown() == "koordetector_a{node=\"node\"} 1\n");
  CHECK(registry.live_series("test") == 1);
}

TEST_CASE_FIXTURE(Scrapes, "a metric of another type than before is left out") {
  REQUIRE(take("# TYPE a gauge\na 1\n"));
  CHECK(take("# TYPE a counter\na 2\n")->left_out_because ==
        "metric 'a': found another type than before, expected one");
}

TEST_CASE_FIXTURE(Scrapes, "labels in another order are the same series") {
  REQUIRE(take("a{x=\"1\",y=\"2\"} 1\n"));
  REQUIRE(take("a{y=\"2\",x=\"1\"} 2\n"));
  CHECK(shown() == "koordetector_a{node=\"node\",x=\"1\",y=\"2\"} 2\n");
  auto both = take("a{y=\"2\",x=\"1\"} 3\na{x=\"1\",y=\"2\"} 4\n");  // both at the same time, so the first one is used
  CHECK(both->left_out_because ==
        "series 'a{x=\"1\",y=\"2\"}': found it twice under its labels here, expected it once");
  CHECK(shown() == "koordetector_a{node=\"node\",x=\"1\",y=\"2\"} 3\n");
  REQUIRE(take("a{x=\"1\",y=\"2\"} 5\n"));
  CHECK(shown() == "koordetector_a{node=\"node\",x=\"1\",y=\"2\"} 5\n");
  REQUIRE(take("a{x=\"1\",y=\"2\"} 6\n"));
  CHECK(shown() == "koordetector_a{node=\"node\",x=\"1\",y=\"2\"} 6\n");
  CHECK(registry.live_series("test") == 1);
}

TEST_CASE_FIXTURE(Scrapes, "names of metrics that come and go are refused before they fill the memory") {
  memory->set_limit(16 << 20);
  std::string error;
  for (int scrape = 0; scrape < 3 && error.empty(); ++scrape) {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += "m" + std::to_string(scrape) + "_" + std::to_string(i) + " 1\n";
    if (auto outcome = take(text); !outcome) error = outcome.error().message();
  }
  CHECK(error == "found 12000 names of metrics so far, expected at most 10000");
}

TEST_CASE_FIXTURE(Scrapes, "a series that two endpoints give is that of the first, until it has it no more") {
  ScrapedMetrics other(registry, definitions, "test", {});
  auto take_other = [&](const std::string& text) {
    auto document = exposition::Document::read(text, exposition::Syntax::text);
    return other.take(*document, from_ns(++seconds * 1'000'000'000));
  };
  REQUIRE(take("a 1\n"));
  CHECK(take_other("a 2\n")->left_out == 1);
  CHECK(shown() == "koordetector_a{node=\"node\"} 1\n");
  REQUIRE(take("b 1\n"));
  CHECK(take_other("a 2\n")->taken == 1);
  CHECK(shown() == "koordetector_a{node=\"node\"} 2\nkoordetector_b{node=\"node\"} 1\n");
}

TEST_CASE_FIXTURE(Scrapes, "after forget() nothing is left, and every series is new") {
  REQUIRE(take("a 1\nb 2\n"));
  metrics.forget();
  CHECK(registry.live_series("test") == 0);
  REQUIRE(take("a 1\n"));
  CHECK(registry.live_series("test") == 1);
}

TEST_CASE("a plugin is asked once for each metric, and each time for its samples") {
  metric::Registry registry;
  ScrapedDefinitions definitions(registry, "test");
  int names = 0, samples = 0;
  ScrapedMetrics metrics(registry, definitions, "test",
                         {.metrics =
                              [&](std::span<ScrapedMetric> asked) {
                                names += static_cast<int>(asked.size());
                                return CallResult{};
                              },
                          .samples =
                              [&](std::span<ScrapedSample> asked) {
                                samples += static_cast<int>(asked.size());
                                return CallResult{};
                              }});
  auto document = exposition::Document::read("a{x=\"1\"} 1\na{x=\"2\"} 1\n", exposition::Syntax::text);
  for (int i = 0; i < 3; ++i) REQUIRE(metrics.take(*document, from_ns(1)));
  CHECK(names == 1);
  CHECK(samples == 6);
}

TEST_CASE("the endpoint of a third party's plugin gives no metric of the host's own plugins") {
  metric::Registry registry;
  ScrapedDefinitions definitions(registry, "com.acme.x", Rights{.host_plugin = false, .files = {}, .cgroups = {}});
  ScrapedMetrics metrics(registry, definitions, "com.acme.x", {});
  auto document = exposition::Document::read("pod_cpu_usage 1\nacme_queue 2\n", exposition::Syntax::text);
  const auto outcome = metrics.take(*document, from_ns(1));
  REQUIRE(outcome);
  CHECK(outcome->taken == 1);
  CHECK(outcome->left_out == 1);
  CHECK(outcome->left_out_because.find("metric 'pod_cpu_usage' is reserved for the agent's own plugins") !=
        std::string::npos);
}

TEST_CASE("the resolution follows from the unit and the size of a value") {
  using exposition::Kind;
  CHECK(scraped_resolution("x_bytes", Kind::gauge, 1e9) == 1);
  CHECK(scraped_resolution("x_seconds", Kind::gauge, 1) == 1e-9);
  CHECK(scraped_resolution("x_seconds_total", Kind::counter, 1) == 1e-6);
  CHECK(scraped_resolution("x_total", Kind::counter, 1) == 1e-3);
  CHECK(scraped_resolution("x", Kind::gauge, 1) == 1e-6);
  // A double has no finer resolution here, and the registry could not store it.
  CHECK(scraped_resolution("node_filefd_maximum", Kind::gauge, 9.223372036854776e18) >= 2048);
  CHECK(scraped_resolution("x_bytes", Kind::gauge, 1.8446744073709552e19) >= 4096);
}
