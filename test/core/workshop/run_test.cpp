// SPDX-License-Identifier: Apache-2.0
// A real plugin file on a recorded node, in this process and in its own process.
#include "core/workshop/run.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "core/base/file.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/state/hub.hpp"
#include "core/workshop/loading.hpp"
#include "core/workshop/run_node.hpp"

using namespace koord;
using namespace koord::workshop;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPods = R"({"items": [{"metadata": {"uid": "u1", "namespace": "shop", "name": "cart"},
  "spec": {"priority": 5, "containers": [{"name": "web"}]}, "status": {"phase": "Running", "qosClass": "BestEffort",
  "containerStatuses": [{"name": "web", "containerID": "containerd://c1", "state": {"running": {}}}]}}]})";

Frame frame(Duration at, const std::string& load) {
  return {at, {{"proc/loadavg", {TreeEntry::Type::file, load + " 0.1 0.1 1/2 3\n"}}}, {}};
}

Fixture busy_node() {
  return {"recorded",
          1'700'000'000'000'000'000,
          {.pods = kPods},
          {frame(0s, "0.10"), frame(1s, "0.50"), frame(3s, "2.50")}};
}

RunReport play(config::Isolation isolation, RunSettings settings = {}, Fixture fixture = busy_node()) {
  child::SnapshotImages images;
  const OpenedPlugin piece = *open_plugin(std::getenv("KOORD_GAUGE"));
  auto plugin = workshop::load(piece, {isolation, std::getenv("KOORD_PLUGIN_HOST"), images});
  REQUIRE_MESSAGE(plugin, plugin.error().message());
  auto node = *make_replayed_node(std::move(fixture));
  settings.plugin_id = piece.manifest.id;
  Result<RunReport> report = run(*plugin, *node, settings);
  REQUIRE_MESSAGE(report, report.error().message());
  return *std::move(report);
}

std::vector<std::string> reported(const RunReport& report) {
  std::vector<std::string> lines;
  for (const auto& call : report.calls)
    lines.push_back(call.cls + " " + call.name + " " + std::to_string(call.tick) + " " +
                    std::to_string(call.result.status) + call.result.text);
  for (const auto& series : report.series) lines.push_back(series.metric + " " + std::to_string(series.value));
  for (const auto& [cls, tick, intent] : report.intents)
    lines.push_back(std::to_string(tick) + " " + intent.cgroup_dir + " " + intent.value);
  for (const auto& one : report.adjustments)
    lines.push_back(one.stage + " " + one.pod + " " + one.container + " " + one.field + "=" + one.value);
  for (const auto& scrape : report.scrapes)
    lines.push_back(scrape.url + " " + std::to_string(scrape.samples) + " " + scrape.problem);
  return lines;
}

}  // namespace

TEST_CASE("a run reports the metrics, proposals, adjustments and calls of every class") {
  const RunReport report = play(config::Isolation::in_process);
  CHECK(report.first_failure() == nullptr);
  REQUIRE(report.series.size() == 1);
  CHECK(report.series[0].metric == "gauge_load");
  CHECK(report.series[0].value == 2.5);  // the value of the third second
  REQUIRE(report.intents.size() == 1);
  CHECK(report.intents[0].tick == 3);
  CHECK(report.intents[0].intent.value == "10000 100000");
  REQUIRE(report.adjustments.size() == 2);
  CHECK(report.adjustments[0].stage == "PreRunPodSandbox");
  CHECK(report.adjustments[0].pod == "shop/cart");
  CHECK(report.adjustments[0].value == "1024");
  CHECK(report.adjustments[1].container == "web");
  REQUIRE(report.scrapes.size() == 1);
  CHECK(report.scrapes[0].url == "http://127.0.0.1:9100/metrics");
  CHECK(report.scrapes[0].problem == "not scraped: the node is a recording");
}

TEST_CASE("acceptance 6: the same file gives the same with both isolations, twice") {
  const std::vector<std::string> here = reported(play(config::Isolation::in_process));
  CHECK(reported(play(config::Isolation::in_process)) == here);
  CHECK(reported(play(config::Isolation::process)) == here);
}

TEST_CASE("a run with a single class, another period and another configuration") {
  const RunReport report =
      play(config::Isolation::in_process,
           {.class_name = "cap", .ticks = 4, .period = 500ms, .config_json = R"({"capAbove": 0.3})"});
  REQUIRE(report.intents.size() == 3);
  CHECK(report.intents[0].tick == 2);  // the load is 0.5 from the first second on
  CHECK(report.series.empty());
}

TEST_CASE("a configuration that the schema refuses is reported, and the plugin is not started") {
  const RunReport report =
      play(config::Isolation::in_process, {.class_name = "load", .config_json = R"({"capAbove": "high"})"});
  REQUIRE(report.calls.size() == 1);
  CHECK(report.first_failure()->result.text.find("/capAbove") != std::string::npos);
}

TEST_CASE("a hook that is later than its deadline has failed, as its answer comes too late for an agent") {
  const RunReport report =
      play(config::Isolation::in_process, {.class_name = "shares", .ticks = 1, .config_json = R"({"hookSeconds": 1})"});
  REQUIRE(report.first_failure());
  CHECK(report.first_failure()->name == "handle");
  CHECK(report.first_failure()->result.status == KOORD_E_DEADLINE);
  CHECK(report.first_failure()->result.text.find("the deadline is 500ms: an agent answers the request without it") !=
        std::string::npos);
  CHECK(report.adjustments.empty());
}

TEST_CASE("a hook that was asked about no pod is named") {
  Fixture fixture = busy_node();
  fixture.state.pods = R"({"items": []})";
  const RunReport report = play(config::Isolation::in_process, {.class_name = "shares", .ticks = 1}, fixture);
  CHECK(report.first_failure() == nullptr);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0] == "shares was asked about nothing: the node has no pod; --pods FILE names some");
  CHECK(play(config::Isolation::in_process, {.class_name = "shares", .ticks = 1}).notes.empty());
}

TEST_CASE("a pod of a file has the cgroups that its annotations name") {
  Fixture fixture = busy_node();
  fixture.state.pods = R"({"items": [{"metadata": {"uid": "u1", "namespace": "shop", "name": "cart", "annotations":
    {"koordetector.sh/cgroup-dir": "web.slice", "koordetector.sh/cgroup-dir.web": "web.slice/web.service"}},
    "spec": {"containers": [{"name": "web"}]}}]})";
  auto node = *make_replayed_node(std::move(fixture));
  state::Hub hub;
  REQUIRE(node->refresh(hub));
  REQUIRE(hub.current()->pods.size() == 1);
  const state::Pod& pod = hub.current()->pods[0];
  CHECK(pod.cgroup_dir == "web.slice");
  CHECK(pod.containers[0].cgroup_dir == "web.slice/web.service");
}

TEST_CASE("the error about a plugin that cannot run names it") {
  CHECK(open_plugin("/no/such/plugin.so").error().message().find("/no/such/plugin.so") != std::string::npos);
  child::SnapshotImages images;
  auto plugin = *workshop::load(*open_plugin(std::getenv("KOORD_GAUGE")), {config::Isolation::in_process, "", images});
  auto node = *make_replayed_node(busy_node());
  Result<RunReport> report = run(plugin, *node, {.plugin_id = "x", .class_name = "lod"});
  REQUIRE(!report);
  CHECK(report.error().message() == "no class 'lod', the plugin has load, cap, shares, node-exporter");
}
