// SPDX-License-Identifier: Apache-2.0
// Tests the alerts of packaging/prometheus/rules.yaml in a Prometheus that scrapes an agent on this kernel. No alert
// fires while the agent has no fault, and each fires when the agent is in the state that it reports.
//
// The rules are a copy with shorter times: alerts that wait 2 or 5 min (`for`) wait 6 s, and a state counts as old
// after 5 s instead of 180 s. rules_test.yaml tests the real times. KOORD_QUIET_SECONDS sets how long no alert may fire
// at first (default 24; 3600 for an hour).
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/e2e/crowded_node.hpp"
#include "test/support/prometheus_process.hpp"
#include "test/support/small_disk.hpp"

using namespace koord::test;

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr auto kLong = std::chrono::minutes(3);
constexpr const char* kActor = "plugins.settings.\"com.example.actor\".";

constexpr std::chrono::seconds kQuiet(24);

std::chrono::seconds quiet_time() {
  const char* seconds = std::getenv("KOORD_QUIET_SECONDS");
  return seconds ? std::chrono::seconds(std::atoi(seconds)) : kQuiet;
}

std::string replaced(const std::string& text, const char* expression, const char* by, std::size_t at_least) {
  const std::regex pattern(expression);
  const auto begin = std::sregex_iterator(text.begin(), text.end(), pattern);
  REQUIRE(static_cast<std::size_t>(std::distance(begin, std::sregex_iterator())) >= at_least);
  return std::regex_replace(text, pattern, by);
}

// The file of the rules with shorter times.
class Rules {
 public:
  Rules() {
    std::string text = koord::read_file(KOORD_SOURCES "/packaging/prometheus/rules.yaml").value();
    text = replaced(text, "for: [25]m", "for: 6s", 8);
    text = replaced(text, "(state_age_seconds\\{part=~\"pods\\|node\"\\}) > 180", "$1 > 5", 1);
    std::ofstream(path()) << text;
  }
  std::string path() const { return folder_ / "rules.yaml"; }

 private:
  TemporaryFolder folder_;
};

class Alerts {
 public:
  explicit Alerts(const AgentProcess& agent) : prometheus_({agent.tcp_address()}, rules_.path()) {}

  Names firing() const { return names_in(R"(ALERTS{alertstate="firing"})"); }
  // Returns the names of all alerts that fired, including alerts that have ended.
  Names fired() const { return names_in(R"(count_over_time(ALERTS{alertstate="firing"}[2h]))"); }

  // Checks that enough scrapes succeed in this time, and no alert fires.
  void check_quiet(std::chrono::seconds time) const {
    const auto wanted = static_cast<double>(time.count() / PrometheusProcess::kIntervalSeconds);
    CHECK(eventually([&] { return prometheus_.value("sum(sum_over_time(up[2h]))").value_or(0) >= wanted; },
                     2 * time + kLong));
    CHECK_MESSAGE(fired().empty(), "fired:", joined(fired()), "\n", prometheus_.query("ALERTS"));
  }
  // Checks that exactly these alerts fire.
  void check_firing(const Names& expected, const AgentProcess& agent) const {
    CHECK_MESSAGE(eventually([&] { return firing() == expected; }, kLong), "firing:", joined(firing()),
                  "\nexpected:", joined(expected), "\n", agent.log());
  }

 private:
  Names names_in(const std::string& expression) const {
    static const std::regex kName("\"alertname\":\"([A-Za-z]+)\"");
    const std::string answer = prometheus_.query(expression);
    Names names;
    for (std::sregex_iterator at(answer.begin(), answer.end(), kName), end; at != end; ++at) names.insert((*at)[1]);
    return names;
  }
  static std::string joined(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  }

  Rules rules_;
  PrometheusProcess prometheus_;
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// CPU suppression enforces a quota. The agent's metric cache is on a small disk. The gate of a plugin that hangs in
// each tick is off at first.
struct SickNode : Sessions {
  SickNode() : Sessions(quota().given) {
    expect_quota(*this);
    for (const std::string& setting :
         {"store.path=" + (disk / "metrics.db"), std::string("qos.refreshPeriod=1s"),
          std::string(kActor) + "isolation=inprocess", std::string(kActor) + "deadline=100ms",
          std::string(kActor) + "config={part: hang}"})
      arguments.insert(arguments.end(), {"--set", setting});
    const std::string actor = agent->plugin_folder() + "/actor.so";
    fs::copy_file(built("test/core/child/actor.so"), actor);
    fs::permissions(actor, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  }
  void reload(const std::string& lines) {
    configure(lines);
    agent->process().signal(SIGHUP);
  }

  SmallDisk disk;
};

}  // namespace

TEST_CASE(
    "a wedged plugin, a full disk, a broken file of pods and a second writer fire one alert each, and health none") {
  SickNode node;
  REQUIRE(node.disk.mounted());
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled());
  const Alerts alerts(*node.agent);
  // The time is not longer, because the file of an older metric cache has unused pages, so a full disk would stop it
  // later.
  alerts.check_quiet(kQuiet);

  node.disk.fill();
  alerts.check_firing({"KoordetectorStoreDegraded"}, *node.agent);
  node.disk.empty();
  alerts.check_firing({}, *node.agent);

  const std::string pods = koord::read_file(node.folder / "pods.yaml").value();
  write(node.folder / "pods.yaml", "items: [");
  alerts.check_firing({"KoordetectorStateStale"}, *node.agent);
  write(node.folder / "pods.yaml", pods);
  alerts.check_firing({}, *node.agent);

  node.reload("featureGates: {Actor: true}\n");
  alerts.check_firing({"KoordetectorPluginFailed"}, *node.agent);
  const std::string plugins = node.agent->ctl({"plugins"}).output;
  CHECK_MESSAGE(plugins.find("wedged") != std::string::npos, plugins);

  const std::string file = node.quota_file(node.pods.besteffort);
  const std::string value = node.pods.is_v2() ? "5000 100000" : "5000";
  const ChildProcess writer({"/bin/sh", "-c",
                             "while read -r now < " + file + "; do [ \"$now\" = \"" + value + "\" ] || echo " + value +
                                 " > " + file + "; done"});
  alerts.check_firing({"KoordetectorPluginFailed", "KoordetectorKnobContested"}, *node.agent);
}

TEST_CASE("the eviction brake fires its alert; the same pods without an eviction need fire no alert") {
  std::vector<CrowdedPod> pods;
  for (char name = 'a'; name < 'a' + 12; ++name)
    pods.push_back({.name = std::string("batch-") + name,
                    .tier = "batch",
                    .priority = 5500,
                    .labels = R"("koordinator.sh/qosClass": "BE")",
                    .used_mib = 256});
  CrowdedNode node(pods);
  node.set_memory(50);
  node.set_slo(R"("memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 74)");
  node.configure("BEMemoryEvict: true", "enforce");
  REQUIRE(node.start());
  const Alerts alerts(*node.agent);
  alerts.check_quiet(quiet_time());
  node.set_memory(99);
  alerts.check_firing({"KoordetectorEvictionBrake"}, *node.agent);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("an active verdict fires its alert; a service with enough CPU fires no alert") {
  Sessions::Given given = quota().given;
  given.plugins.emplace_back("advisor-interference");
  given.gates = "InterferenceCollector=true";
  given.service_limit = "";
  given.mode = "shadow";
  Sessions node(given);
  node.arguments = {"--set", "roots.proc=/proc"};
  node.pods.set_shares(node.pods.service_pod, 256);
  node.pods.set_shares(node.pods.besteffort, 2048);
  REQUIRE(node.start());
  if (!eventually([&] { return node.agent->log().find("advisor-interference is running") != std::string::npos; },
                  kLong)) {
    MESSAGE("left out here: ", node.agent->log());
    return;
  }
  // Reduces the effect of other load on this machine.
  node.pods.set_shares(node.pods.top, 262'144);
  const Alerts alerts(*node.agent);
  alerts.check_quiet(quiet_time());
  std::vector<std::unique_ptr<ChildProcess>> hogs;
  for (std::size_t i = 0; i < 2 * node.pods.cpus(); ++i) {
    hogs.push_back(std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/sh", "-c", "while :; do :; done"}));
    node.pods.batch.add_process(hogs.back()->pid());
  }
  alerts.check_firing({"KoordetectorVerdictStanding"}, *node.agent);
  hogs.clear();
  alerts.check_firing({}, *node.agent);
  CHECK(node.agent->stop() == 0);
}
