// SPDX-License-Identifier: Apache-2.0
// A stranger's plugin under the real agent, on this kernel: whatever it does, it does to its own process. The agent, its
// other plugins and the scrape go on, and koordctl tells what happened.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/support/agent_process.hpp"

using namespace koord::test;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Stranger {
  AgentProcess agent{"featureGates: {Actor: true}", {built("plugins/advisor-node-resource"), built("test/core/child")}};

  void plays(const std::string& part, std::vector<std::string> settings = {}) {
    std::vector<std::string> arguments;
    settings.push_back("config={part: " + part + "}");
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back("plugins.settings.\"com.example.actor\"." + setting);
    }
    REQUIRE(agent.start(arguments));
  }
  bool plugins_say(std::string_view text) {
    bool said = eventually([&] { return contains(agent.ctl({"plugins"}).output, text); });
    if (!said) MESSAGE(agent.ctl({"plugins"}).output, agent.log());
    return said;
  }
  // Its processes, as the agent tells them.
  std::vector<pid_t> processes() {
    constexpr std::string_view kKey = "\"process\":";
    std::vector<pid_t> found;
    std::string plugins = agent.get("/api/v1/plugins");
    for (std::size_t at = plugins.find(kKey); at != std::string::npos; at = plugins.find(kKey, at + 1))
      if (int pid = std::atoi(plugins.c_str() + at + kKey.size()); pid > 0) found.push_back(pid);
    return found;
  }
  double calls_of_the_others() {
    return find_metric(agent.metrics(), "koordetector_plugin_calls_total", {"plugin=\"advisor-node-resource\""}).value_or(0);
  }
  // The same agent ticks its other plugin.
  void check_that_the_others_go_on() {
    double before = calls_of_the_others();
    CHECK(eventually([&] { return calls_of_the_others() > before + 1; }));
    CHECK(agent.process().running());
    CHECK(agent.status_of("/readyz") == 200);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Stranger, "one that leaks is killed at its limit, and the reason is told") {
  plays("leak", {"maxMemory=64Mi", "period=200ms"});
  CHECK(plugins_say("out of its memory of 64 MiB"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that starts threads without end gets as many as it may have") {
  plays("fork", {"maxThreads=16", "period=200ms"});
  auto threads = [&] { return find_metric(agent.metrics(), "koordetector_actor_count"); };
  REQUIRE(eventually([&] { return threads().has_value(); }));
  CHECK(*threads() <= 16);
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that is killed begins again, in another process") {
  plays("count");
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_actor_count").has_value(); }));
  std::vector<pid_t> first = processes();
  REQUIRE(first.size() == 2);
  for (pid_t pid : first) ::kill(pid, SIGSEGV);
  CHECK(plugins_say("by signal 11 (Segmentation fault)"));
  CHECK(eventually([&] { return processes().size() == 2 && processes() != first; }));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that spins past its deadline is ended") {
  plays("spin", {"deadline=20ms"});
  CHECK(plugins_say("did not return within"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that closes its descriptors and writes to them is ended, and begins again") {
  plays("close", {"period=200ms"});
  CHECK(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_plugin_restarts_total", {"plugin=\"com.example.actor\""}).value_or(0) >= 1;
  }));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that answers garbage is ended, and the reason is told") {
  plays("garbage", {"period=200ms"});
  CHECK(plugins_say("packet of an unknown form"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "one that uses all of its CPU ticks slower, and the table says what it uses") {
  plays("busy", {"maxCpu=100m", "period=1s"});
  auto slowdown = [&] {
    return find_metric(agent.metrics(), "koordetector_plugin_slowdown", {"plugin=\"com.example.actor\""}).value_or(0);
  };
  CHECK(eventually([&] { return slowdown() > 1; }, std::chrono::minutes(1)));
  CHECK(contains(agent.log(), "com.example.actor uses 0."));
  const std::string table = agent.ctl({"plugins"}).output;
  CHECK_MESSAGE(contains(table, "/0.100"), table);
  CHECK_MESSAGE(contains(table, "/128Mi"), table);
  CHECK_MESSAGE(contains(table, "/20000"), table);
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "what one prints is in the agent's log, under its name") {
  plays("print");
  CHECK(eventually([&] { return contains(agent.log(), "com.example.actor: printed by the actor"); }));
  check_that_the_others_go_on();
}

TEST_CASE("koordctl plugin reload puts a plugin's new file in the place of the one that runs, without a gap") {
  TemporaryFolder plugins;
  std::filesystem::copy(built("test/core/child/actor.so"), plugins / "actor.so");
  Stranger stranger{AgentProcess("featureGates: {Actor: true}", {built("plugins/advisor-node-resource"), plugins.path()})};
  stranger.plays("count");
  auto calls = [&] {
    return find_metric(stranger.agent.metrics(), "koordetector_plugin_calls_total", {"plugin=\"com.example.actor\""}).value_or(0);
  };
  REQUIRE(eventually([&] { return stranger.processes().size() == 2 && calls() > 10; }));
  const std::vector<pid_t> before = stranger.processes();
  const double calls_before = calls();

  std::filesystem::copy(plugins / "actor.so", plugins / "fresh");
  std::filesystem::rename(plugins / "fresh", plugins / "actor.so");
  Finished reloaded = stranger.agent.ctl({"plugin", "reload", "com.example.actor"});
  CHECK(reloaded.exit_status == 0);
  CHECK(contains(reloaded.output, "com.example.actor 1.0.0 is running"));
  const std::vector<pid_t> after = stranger.processes();
  REQUIRE(after.size() == 2);
  for (pid_t pid : before) CHECK(std::find(after.begin(), after.end(), pid) == after.end());
  CHECK(calls() > calls_before);
  CHECK(find_metric(stranger.agent.metrics(), "koordetector_plugin_reloads_total", {"plugin=\"com.example.actor\""}) == 1);

  // What is no plugin leaves the old one as it is.
  std::ofstream(plugins / "fresh") << "no plugin";
  std::filesystem::rename(plugins / "fresh", plugins / "actor.so");
  Finished refused = stranger.agent.ctl({"plugin", "reload", "com.example.actor"});
  CHECK(refused.exit_status == 1);
  CHECK_MESSAGE(contains(refused.output, "was not reloaded: "), refused.output);
  CHECK(stranger.processes() == after);
  stranger.check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "a reload is a matter of the socket, not of the port that Prometheus asks") {
  plays("count");
  const std::string path = "/api/v1/plugins/com.example.actor/reload";
  CHECK(agent.post_over_tcp(path) == 404);
  CHECK(agent.status_of(path) == 405);  // by GET, on the socket
}

TEST_CASE_FIXTURE(Stranger, "nothing of it is left when the agent ends") {
  plays("count");
  REQUIRE(eventually([&] { return processes().size() == 2; }));
  std::vector<pid_t> left = processes();
  CHECK(agent.stop() == 0);
  for (pid_t pid : left) CHECK(::kill(pid, 0) != 0);
}
