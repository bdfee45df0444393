// SPDX-License-Identifier: Apache-2.0
// External advisors end to end: a real endpoint, the real plugin manager, and the plugin in this process or its own.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/thread_cpu.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/host/plugin_metrics.hpp"
#include "core/http/socket_address.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "core/scrape/scrape.hpp"
#include "test/core/child/endpoint.hpp"
#include "test/core/host/stage.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using namespace koord::scrape;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kScraper = "com.example.scraper";

// Takes some time to receive and parse, and has only one sample to record. Must finish before the deadline even with a
// sanitizer.
std::string large_answer() {
  std::string text = "a 1\n";
  while (text.size() < 2 << 20) text += "# A comment of an endpoint that has much to say.\n";
  return text;
}

struct ScrapeFixture {
  child::SnapshotImages images;
  Endpoint endpoint;
  config::Isolation isolation = config::Isolation::process;
  NetworkMask network = kNetworkTcp | kNetworkUnix;
  std::vector<std::string> sockets = {endpoint.socket()};
  test::HostStage stage{
      {"scraper", "actor"},
      4,
      [this](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
      }};

  ScrapeFixture() {
    SUBCASE("in this process") { isolation = config::Isolation::in_process; }
    SUBCASE("in a process of its own") {}
  }
  ~ScrapeFixture() { stage.stop(); }

  // `more`: further settings of the plugin, as members of a JSON object.
  void scrape(const std::string& url, const std::string& more = {}, std::uint64_t max_series = 1000,
              Duration period = 100ms) {
    config::PluginSettings settings = stage.settings().defaults;
    settings.period = period;
    settings.max_series = max_series;
    settings.isolation = isolation;
    settings.network = network;
    settings.write_paths = sockets;
    settings.config_json = R"({"url": ")" + url + "\"" + (more.empty() ? "" : ", " + more) + "}";
    stage.settings().settings[kScraper] = settings;
    stage.apply("Scraper=true");
  }
  void scrape_endpoint(const std::string& more = {}, std::uint64_t max_series = 1000) {
    scrape(endpoint.url(), more, max_series);
  }

  std::optional<double> value(std::string_view metric, const metric::Labels& labels = {}) {
    return stage.host().value(metric, labels);
  }
  bool gives(std::string_view metric, double wanted, const metric::Labels& labels = {}) {
    return eventually([&] { return value(metric, labels) == wanted; });
  }
  PluginStatus status() { return stage.status(kScraper); }
  // Returns the CPU time that the agent used for the plugin outside of its calls.
  Duration service_cpu() {
    Duration sum{};
    for (const InstanceStatus& instance : status().instances) sum += instance.service_cpu;
    return sum;
  }
  ScrapeStatus scraped() {
    PluginStatus all = status();
    if (all.instances.empty() || all.instances[0].scrapes.empty()) return {};
    return all.instances[0].scrapes[0];
  }
  // Waits for a failure with this text. Returns the actual failure.
  std::string failure(std::string_view part) {
    if (eventually([&] { return contains(status().reason, part); })) return std::string(part);
    return status().reason + " / " + status().last_error + " / " + std::string(to_string(status().state));
  }
};

}  // namespace

TEST_CASE_FIXTURE(ScrapeFixture, "the endpoint's samples become metrics of the plugin, tick by tick") {
  endpoint.say(
      "# HELP shop_orders_total Orders so far.\n# TYPE shop_orders_total counter\nshop_orders_total{shop=\"a\"} 5\nshop_load 0.5\n");
  scrape_endpoint();
  CHECK(gives("shop_orders_total", 5, {{"shop", "a"}}));
  CHECK(gives("shop_load", 0.5));
  endpoint.say("# TYPE shop_orders_total counter\nshop_orders_total{shop=\"a\"} 7\nshop_load 0.25\n");
  CHECK(gives("shop_orders_total", 7, {{"shop", "a"}}));
  std::string text;
  stage.host().metrics().write_text(text, stage.host().clock().now());
  CHECK(contains(
      text, "# HELP koordetector_shop_orders_total Orders so far.\n# TYPE koordetector_shop_orders_total counter\n"));
}

TEST_CASE_FIXTURE(ScrapeFixture, "an endpoint on a unix socket is scraped, too, and one that speaks OpenMetrics") {
  endpoint.say("# TYPE a_seconds counter\n# UNIT a_seconds seconds\na_seconds_total 2.5\n# EOF\n", 200,
               "application/openmetrics-text; version=1.0.0");
  scrape("unix:" + endpoint.socket() + ":/metrics");
  CHECK(gives("a_seconds_total", 2.5));
}

TEST_CASE_FIXTURE(ScrapeFixture, "no endpoint is scraped for a third party's plugin without a grant of its kind") {
  endpoint.say("a 1\n");
  network = kNetworkUnix;
  scrape_endpoint();
  CHECK(failure("network: [tcp] in the plugin's settings allows it") ==
        "network: [tcp] in the plugin's settings allows it");
  network = kNetworkTcp;
  scrape("unix:" + endpoint.socket() + ":/metrics");
  CHECK(failure("network: [unix] in the plugin's settings allows it") ==
        "network: [unix] in the plugin's settings allows it");
  CHECK(value("a") == std::nullopt);
}

TEST_CASE_FIXTURE(
    ScrapeFixture,
    "for a third-party plugin a unix socket outside of writePaths is not scraped, not even through a link") {
  endpoint.say("a 1\n");
  const SocketFolder granted;
  sockets = {granted.path("")};
  scrape("unix:" + endpoint.socket() + ":/metrics");
  CHECK(failure("found a socket that is not granted") == "found a socket that is not granted");
  std::filesystem::create_symlink(endpoint.socket(), granted.path("link.sock"));
  scrape("unix:" + granted.path("link.sock") + ":/metrics");
  CHECK(failure("link.sock': found a socket that is not granted") == "link.sock': found a socket that is not granted");
  CHECK(value("a") == std::nullopt);
}

TEST_CASE_FIXTURE(ScrapeFixture, "the plugin leaves metrics out, renames others, drops samples and changes values") {
  endpoint.say("shop_a 1\nshop_b{drop=\"1\"} 2\nshop_b{double=\"1\"} 3\ngo_threads 9\n");
  scrape_endpoint(R"("only": "shop_", "prefix": "acme_")");
  CHECK(gives("acme_shop_a", 1));
  CHECK(gives("acme_shop_b", 6, {{"double", "1"}}));
  CHECK_FALSE(value("acme_shop_b", {{"drop", "1"}}));
  CHECK_FALSE(value("go_threads"));
  CHECK(eventually([&] { return scraped().dropped == 2; }));
  CHECK(scraped().taken == 2);
}

TEST_CASE_FIXTURE(ScrapeFixture, "a series that vanishes from the endpoint ends") {
  endpoint.say("a{x=\"1\"} 1\na{x=\"2\"} 2\n");
  scrape_endpoint();
  REQUIRE(gives("a", 2, {{"x", "2"}}));
  endpoint.say("a{x=\"1\"} 3\n");
  CHECK(gives("a", 3, {{"x", "1"}}));
  CHECK_FALSE(value("a", {{"x", "2"}}));
  CHECK(status().series == 1);
}

TEST_CASE_FIXTURE(ScrapeFixture, "another configuration is another endpoint, without a restart") {
  endpoint.say("a 1\n");
  scrape("http://127.0.0.1:1/");
  CHECK(failure("cannot connect: Connection refused") == "cannot connect: Connection refused");
  scrape_endpoint(R"("prefix": "new_")");
  CHECK(gives("new_a", 1));
  CHECK(eventually([&] { return status().reason.empty(); }));
  CHECK(status().restarts == 0);
}

TEST_CASE_FIXTURE(
    ScrapeFixture,
    "the plugin's reason shows problems with the endpoint; the plugin still runs and keeps the last values") {
  endpoint.say("a 1\n");
  scrape_endpoint();
  REQUIRE(gives("a", 1));
  endpoint.say("a 2\nb{\n");
  CHECK(failure("'/metrics': line 2: found the end of the line, expected the name of a label") != "");
  CHECK(contains(status().reason, "line 2: found the end of the line, expected the name of a label"));
  endpoint.say("gone", 503);
  CHECK(failure("found status 503, expected 200") == "found status 503, expected 200");
  endpoint.say(std::string(17 << 20, '#'));
  CHECK(failure("found a body of more than 16777216 bytes") == "found a body of more than 16777216 bytes");
  CHECK(value("a") == 1);
  CHECK(status().state == PluginState::running);
  CHECK(scraped().failures >= 3);
  endpoint.say("a 3\n");
  CHECK(gives("a", 3));
  CHECK(eventually([&] { return status().reason.empty(); }));
  CHECK(status().restarts == 0);
}

TEST_CASE_FIXTURE(ScrapeFixture, "more series than the plugin may have are refused as a whole") {
  endpoint.say("a{x=\"1\"} 1\na{x=\"2\"} 1\na{x=\"3\"} 1\n");
  scrape_endpoint({}, 2);
  CHECK(failure("found 3 series, expected at most 2 (maxSeries)") == "found 3 series, expected at most 2 (maxSeries)");
  CHECK(status().series == 0);
  endpoint.say("a{x=\"4\"} 1\na{x=\"5\"} 1\n");
  CHECK(gives("a", 1, {{"x", "5"}}));
  endpoint.say("a{x=\"6\"} 1\na{x=\"7\"} 1\n");  // all are new: the earlier ones end first
  CHECK(gives("a", 1, {{"x", "7"}}));
  CHECK(status().dropped_series == 0);
}

TEST_CASE_FIXTURE(ScrapeFixture, "an endpoint that trickles is cut at the deadline and delays no other") {
  Trickle trickle;
  scrape(trickle.url());
  CHECK(failure("Connection timed out") == "Connection timed out");
  CHECK(eventually([&] { return scraped().failures >= 2; }));
  CHECK(status().state == PluginState::running);
  CHECK(status().restarts == 0);
  stage.apply("Scraper=false");
  CHECK(stage.await(kScraper, PluginState::disabled));
}

TEST_CASE_FIXTURE(ScrapeFixture, "an endless answer is cut at its limit, whatever the deadline") {
  Flood flood;
  scrape(flood.url(), {}, 1000, 3600s);
  CHECK(failure("found a body of more than 16777216 bytes") == "found a body of more than 16777216 bytes");
  CHECK(status().state == PluginState::running);
}

TEST_CASE_FIXTURE(
    ScrapeFixture,
    "an answer beyond the plugin's memory for scrapes fails, and the reason names target, bytes and setting") {
  stage.settings().defaults.max_scrape_memory = 1 << 20;
  endpoint.say("a 1\n");
  scrape_endpoint();
  REQUIRE(gives("a", 1));
  endpoint.say(large_answer());
  CHECK(failure("beside them, expected at most 1048576 together (maxScrapeMemory)") ==
        "beside them, expected at most 1048576 together (maxScrapeMemory)");
  CHECK(contains(status().reason, endpoint.url().substr(7, endpoint.url().rfind('/') - 7)));
  CHECK(value("a") == 1);
  stage.settings().defaults.max_scrape_memory = 64 << 20;
  scrape_endpoint();
  CHECK(eventually([&] { return scraped().problem.empty(); }));
  // as for other breaches, for some time
  CHECK(contains(status().reason, "(maxScrapeMemory), keeping the last values"));
}

TEST_CASE_FIXTURE(ScrapeFixture, "the CPU time of fetching and reading an answer is charged to the plugin") {
  endpoint.say(large_answer());
  ScrapeTarget target;
  target.url = endpoint.url();
  const Duration before = thread_cpu();
  REQUIRE(scrape::scrape(target, {.timeout = 60s, .rights = {}}));
  const Duration cost = thread_cpu() - before;
  scrape(endpoint.url(), {}, 1000, 3600s);  // once
  REQUIRE(gives("a", 1));
  CHECK(eventually([&] { return service_cpu() > cost / 2; }));
  CHECK(status().counts.cpu >= service_cpu());
}

TEST_CASE_FIXTURE(ScrapeFixture, "the CPU time of recording the samples is charged to the plugin, too") {
  constexpr int kSeries = 20'000;
  std::string text;
  for (int i = 0; i < kSeries; ++i) text += "a{i=\"" + std::to_string(i) + "\"} 1\n";
  endpoint.say(text);
  ScrapeTarget target;
  target.url = endpoint.url();
  Result<exposition::Document> document = scrape::scrape(target, {.timeout = 60s, .rights = {}});
  REQUIRE(document);
  FakeHost other(stage.host_node());
  ScrapedDefinitions definitions{other.metrics(), other.context().id()};
  ScrapedMetrics metrics{other.metrics(), definitions, other.context().id(), {}};
  const Duration before = thread_cpu();
  REQUIRE(metrics.take(*document, other.clock().now()));
  const Duration cost = thread_cpu() - before;
  scrape(endpoint.url(), {}, kSeries, 3600s);
  REQUIRE(gives("a", 1, {{"i", "0"}}));
  CHECK(eventually([&] { return service_cpu() > cost / 2; }));
}

TEST_CASE_FIXTURE(ScrapeFixture,
                  "scrapes for a plugin with a process of its own wait at its CPU limit, and the reason says so") {
  const std::string reason = "its scrapes cost the agent all the CPU time that it may use, and wait";
  endpoint.say(large_answer());
  stage.settings().defaults.max_cpu_millis = 10;
  scrape_endpoint();
  REQUIRE(gives("a", 1));
  if (isolation == config::Isolation::process) {
    CHECK(eventually([&] { return status().reason == reason; }));
  } else {
    CHECK(eventually([&] { return scraped().scrapes > 5; }));
    CHECK(status().reason != reason);
  }
}

TEST_CASE_FIXTURE(ScrapeFixture, "slow endpoints take no worker from the other plugins") {
  Trickle trickle;
  config::PluginSettings slow = stage.settings().defaults;
  slow.period = 3600s;
  slow.isolation = isolation;
  slow.config_json = R"({"url": ")" + trickle.url() + "\"}";
  stage.settings().settings[kScraper] = slow;
  config::PluginSettings quick = stage.settings().defaults;
  quick.period = 100ms;
  quick.isolation = config::Isolation::in_process;
  stage.settings().settings["com.example.actor"] = quick;
  stage.apply("Scraper=true,Actor=true");
  REQUIRE(stage.await(kScraper, PluginState::running));
  const double before = value("actor_count").value_or(0);
  CHECK(eventually([&] { return value("actor_count").value_or(0) > before + 3; }));
  stage.apply("Scraper=false,Actor=false");  // long before the hour has passed
  CHECK(stage.await(kScraper, PluginState::disabled));
}

TEST_CASE_FIXTURE(ScrapeFixture,
                  "an invalid or not yet known URL is reported, and the plugin is asked again until it has one") {
  scrape("ftp://x/");
  CHECK(failure("'ftp://x/': found another scheme, expected 'http://127.0.0.1:9100/metrics'") != "");
  CHECK(contains(status().reason, "'ftp://x/': found another scheme"));
  scrape("");
  CHECK(failure("url(): KOORD_E_AGAIN: the url is unknown") == "url(): KOORD_E_AGAIN: the url is unknown");
}

TEST_CASE_FIXTURE(ScrapeFixture,
                  "after a panic during mapping no sample of the scrape is stored, and the next scrape works") {
  endpoint.say("a 1\n");
  scrape_endpoint(R"("panic": "map_sample")");
  CHECK(failure("map_sample(): KOORD_E_PANIC: the scraper's text") ==
        "map_sample(): KOORD_E_PANIC: the scraper's text");
  CHECK_FALSE(value("a"));
  scrape_endpoint(R"("panic": "map_metric")");
  CHECK(failure("map_metric(): KOORD_E_PANIC: the scraper's text") ==
        "map_metric(): KOORD_E_PANIC: the scraper's text");
  scrape_endpoint();
  CHECK(gives("a", 1));
}

TEST_CASE_FIXTURE(ScrapeFixture, "the host's metrics about the scrapes") {
  endpoint.say("a 1\nhttp_requests_total 1\n");
  scrape_endpoint();
  REQUIRE(gives("a", 1));
  REQUIRE(eventually([&] { return scraped().taken == 1; }));
  CHECK(contains(scraped().left_out_because,
                 "metric 'http_requests_total': this name is reserved for the host's own metrics"));
  metric::HostMetrics metrics;
  PluginMetrics plugin_metrics(metrics);
  plugin_metrics.update({status()});
  std::string text;
  metrics.write_text(text);
  CHECK(contains(text, "koordetector_plugin_scraped_samples{plugin=\"com.example.scraper\"} 1\n"));
  CHECK(contains(text, "koordetector_plugin_scrape_left_out_samples{plugin=\"com.example.scraper\"} 1\n"));
  CHECK(contains(text, "koordetector_plugin_scrape_failures_total{plugin=\"com.example.scraper\"} 0\n"));
}

TEST_CASE("a child that ends while it maps is restarted, and the host goes on") {
  child::SnapshotImages images;
  Endpoint endpoint;
  endpoint.say("a 1\n");
  test::HostStage stage{
      {"scraper"},
      4,
      [&](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
      }};
  config::PluginSettings settings = stage.settings().defaults;
  settings.period = 100ms;
  settings.network = kNetworkTcp;
  settings.config_json = R"({"url": ")" + endpoint.url() + R"(", "panic": "exit"})";
  stage.settings().settings[kScraper] = settings;
  stage.apply("Scraper=true");
  REQUIRE(stage.await(kScraper, PluginState::parked));
  CHECK(contains(stage.status(kScraper).reason, "its process ended with exit code 3"));
  stage.stop();
}
