// SPDX-License-Identifier: Apache-2.0
// External advisors with several endpoints, end to end: real endpoints, the real plugin manager, and the plugin in this
// process (as the agent's own) or in its own process (as a third party's).
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/child/child_runner.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "test/core/child/endpoint.hpp"
#include "test/core/host/stage.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kCollector = "com.example.collector";

struct Targets {
  child::SnapshotImages images;
  Endpoint one, two;
  bool is_own = false;
  std::unique_ptr<HostStage> stage;

  Targets() {
    SUBCASE("in this process") { is_own = true; }
    SUBCASE("in a process of its own") {}
    Loader in_child = [this](const std::string& path, const Manifest& manifest, const FileVersion& file,
                             const RunnerLimits& limits) {
      return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
    };
    stage = std::make_unique<HostStage>(std::initializer_list<std::string_view>{"collector"}, 4,
                                        is_own ? Loader() : in_child);
  }
  ~Targets() { stage->stop(); }

  static std::string target(const std::string& name, const std::string& url, const std::string& more = {}) {
    return R"({"name": ")" + name + R"(", "url": ")" + url + "\"" + (more.empty() ? "" : ", " + more) + "}";
  }
  void collect(const std::string& targets, const std::string& more = {}) {
    config::PluginSettings settings = stage->settings().defaults;
    settings.period = 100ms;
    settings.max_series = 1000;
    settings.network = kNetworkTcp | kNetworkUnix;
    settings.config_json = R"({"targets": [)" + targets + "]" + (more.empty() ? "" : ", " + more) + "}";
    stage->settings().settings[kCollector] = settings;
    stage->apply("Collector=true");
  }
  void publish_pod(const std::string& uid) {
    state::Pod pod;
    pod.uid = uid;
    pod.name = "web";
    pod.namespace_ = "shop";
    stage->host().hub().publish({.pods = std::vector{pod}});
  }
  std::optional<double> value(std::string_view metric, const metric::Labels& labels = {}) {
    return stage->host().value(metric, labels);
  }
  bool gives(std::string_view metric, double wanted, const metric::Labels& labels = {}) {
    return eventually([&] { return value(metric, labels) == wanted; });
  }
  PluginStatus status() { return stage->status(kCollector); }
  std::string reason(std::string_view part) {
    eventually([&] { return contains(status().reason, part); });
    return status().reason;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Targets, "each target is scraped, and its metrics are mapped as its own") {
  one.say("load 1\n");
  two.say("load 2\n");
  collect(target("one", one.url(), R"("prefix": "a_")") + "," + target("two", two.url(), R"("prefix": "b_")"));
  CHECK(gives("a_load", 1));
  CHECK(gives("b_load", 2));
}

TEST_CASE_FIXTURE(Targets, "targets may share a metric, which has the resolution that the first target needs") {
  one.say("size{of=\"one\"} 1\n");
  two.say("size{of=\"two\"} 9e18\n");
  collect(target("two", two.url()));
  REQUIRE(eventually([&] { return value("size", {{"of", "two"}}).value_or(0) > 8e18; }));
  collect(target("one", one.url()) + "," + target("two", two.url()));
  CHECK(gives("size", 1, {{"of", "one"}}));
}

TEST_CASE_FIXTURE(Targets, "a value that is far beyond those of the first target is left out with the reason") {
  one.say("size{of=\"one\"} 1\n");
  two.say("size{of=\"two\"} 9e18\n");
  collect(target("one", one.url()));
  REQUIRE(gives("size", 1, {{"of", "one"}}));
  collect(target("one", one.url()) + "," + target("two", two.url()));
  CHECK(eventually([&] {
    const auto scrapes = status().instances.at(0).scrapes;
    return scrapes.size() == 2 && contains(scrapes[1].left_out_because, "beyond 2^62 times its resolution");
  }));
}

TEST_CASE_FIXTURE(Targets, "the series of a target that is no longer named end, and the other targets continue") {
  one.say("x{of=\"one\"} 1\n");
  two.say("x{of=\"two\"} 2\n");
  collect(target("one", one.url()) + "," + target("two", two.url()));
  REQUIRE(gives("x", 1, {{"of", "one"}}));
  REQUIRE(gives("x", 2, {{"of", "two"}}));
  collect(target("two", two.url()));
  CHECK(eventually([&] { return !value("x", {{"of", "one"}}); }));
  two.say("x{of=\"two\"} 3\n");
  CHECK(gives("x", 3, {{"of", "two"}}));
  CHECK(status().restarts == 0);
  CHECK(status().instances.at(0).scrapes.size() == 1);
}

TEST_CASE_FIXTURE(Targets, "labels of a series are taken away and renamed, and a series can be left out") {
  one.say("x{secret=\"1\",was=\"v\",stays=\"s\"} 1\nx{drop=\"1\"} 2\n");
  collect(target("one", one.url()));
  REQUIRE(gives("x", 1));
  const auto series = stage->host().series("x");
  REQUIRE(series.size() == 1);
  CHECK(series[0].labels == metric::Labels{{"is", "v"}, {"stays", "s"}});
  CHECK(eventually(
      [&] { return !status().instances.at(0).scrapes.empty() && status().instances.at(0).scrapes[0].dropped == 1; }));
}

TEST_CASE_FIXTURE(Targets, "a series of a pod is labelled as such, waits until the pod is known, and ends with it") {
  one.say("x{pod=\"u1\"} 1\ny 1\n");
  collect(target("one", one.url()));
  REQUIRE(gives("y", 1));
  CHECK_FALSE(value("x"));
  publish_pod("u1");
  CHECK(gives("x", 1, {{"pod_uid", "u1"}, {"pod_name", "web"}, {"pod_namespace", "shop"}}));
  publish_pod("u2");
  CHECK(eventually([&] { return !value("x"); }));
  one.say("x{pod=\"u1\"} 1\ny 2\n");
  CHECK(gives("y", 2));
  CHECK_FALSE(value("x"));
  publish_pod("u1");
  CHECK(gives("x", 1, {{"pod_uid", "u1"}}));
}

TEST_CASE_FIXTURE(Targets,
                  "a problem with one target is reported with the target's name and does not affect the others") {
  two.say("y 1\n");
  collect(target("one", "http://127.0.0.1:1/") + "," + target("two", two.url()));
  CHECK(gives("y", 1));
  CHECK(reason("target 'one'") == "target 'one': scrape failed: '127.0.0.1:1': cannot connect: Connection refused");
  Trickle trickle;
  collect(target("one", trickle.url()) + "," + target("two", two.url()));
  two.say("y 2\n");
  CHECK(gives("y", 2));
  CHECK(contains(reason("timed out"), "timed out"));
}

TEST_CASE_FIXTURE(Targets, "a target has a budget of its own") {
  one.say("x{n=\"1\"} 1\nx{n=\"2\"} 1\n");
  two.say("y{n=\"1\"} 1\ny{n=\"2\"} 1\n");
  collect(target("one", one.url(), R"("series": 1)") + "," + target("two", two.url(), R"("series": 2)"));
  CHECK(gives("y", 1, {{"n", "2"}}));
  CHECK(reason("series") == "target 'one': scrape failed: found 2 series, expected at most 1");
  CHECK_FALSE(value("x"));
}

TEST_CASE_FIXTURE(Targets, "while targets() fails the last targets are kept, and the reason is reported") {
  one.say("x 1\n");
  collect(target("one", one.url()));
  REQUIRE(gives("x", 1));
  collect(target("one", one.url()), R"("panic": "targets")");
  CHECK(reason("targets()") == "scrape failed: targets(): KOORD_E_PANIC: the collector's text");
  one.say("x 2\n");
  CHECK(gives("x", 2));
  collect(target("one", one.url()));
  CHECK(eventually([&] { return status().reason.empty(); }));
}

TEST_CASE_FIXTURE(Targets, "invalid names and URLs, and a name twice, are refused with a reason") {
  collect(target("one", "ftp://x/"));
  CHECK(contains(reason("ftp"), "targets(): KOORD_E_INVALID: 'ftp://x/': found another scheme"));
  collect(target("one", one.url()) + "," + target("one", two.url()));
  CHECK(contains(reason("second"), "targets(): KOORD_E_INVALID: found a second target 'one', expected each name once"));
}

TEST_CASE_FIXTURE(Targets, "the node's own plugins may name files, others may not") {
  SocketFolder folder;
  std::ofstream(folder.path("a.prom")) << "from_file 1\n";
  collect(target("file", "file:" + folder.path("a.prom")));
  if (is_own) {
    CHECK(gives("from_file", 1));
    CHECK(status().reason == "");
  } else {
    CHECK(reason("plugins.ownDirectories") ==
          "target 'file': scrape failed: 'file:" + folder.path("a.prom") +
              "': found a file of the host, expected that of plugins of plugins.ownDirectories alone");
    CHECK_FALSE(value("from_file"));
    one.say("x 1\n");
    collect(target("one", one.url(), R"("file": "/etc/shadow")"));
    CHECK(contains(reason("target 'one'"), "found a file of the host"));
  }
}
