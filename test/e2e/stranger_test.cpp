// SPDX-License-Identifier: Apache-2.0
// A stranger's plugin under the real agent, on this kernel: whatever it does, it does to its own process. The agent, its
// other plugins and the scrape go on, and koordctl tells what happened.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
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
  plays("hang", {"deadline=20ms"});
  CHECK(plugins_say("did not return within"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "what one prints is in the agent's log, under its name") {
  plays("print");
  CHECK(eventually([&] { return contains(agent.log(), "com.example.actor: printed by the actor"); }));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(Stranger, "nothing of it is left when the agent ends") {
  plays("count");
  REQUIRE(eventually([&] { return processes().size() == 2; }));
  std::vector<pid_t> left = processes();
  CHECK(agent.stop() == 0);
  for (pid_t pid : left) CHECK(::kill(pid, 0) != 0);
}
