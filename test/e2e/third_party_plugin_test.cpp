// SPDX-License-Identifier: Apache-2.0
// A third-party plugin under the real agent, on this kernel: any fault affects only its own process. The agent, its
// other plugins and the scrape go on, and koordctl reports the fault.
#include <doctest/doctest.h>
#include <unistd.h>

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

struct Sample {
  double time;  // s
  double value;
};

// The samples of all series of a metric in the metric cache, oldest first.
std::vector<Sample> samples_of(const AgentProcess& agent, const std::string& metric) {
  constexpr std::string_view kSamples = "\"samples\":[";
  std::vector<Sample> samples;
  const std::string answer = agent.get("/api/v1/query?raw=true&metric=" + metric);
  for (std::size_t row = answer.find(kSamples); row != std::string::npos; row = answer.find(kSamples, row + 1)) {
    for (const char* at = answer.c_str() + row + kSamples.size(); *at == '['; at += *at == ',') {
      char* end = nullptr;
      const double time = std::strtod(at + 1, &end);
      samples.push_back({time, std::strtod(end + 1, &end)});
      at = end + 1;
    }
  }
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.time < b.time; });
  return samples;
}

// Returns the last sample before the actor's counter was reset; end() if it was not reset.
std::vector<Sample>::const_iterator end_of_session(const std::vector<Sample>& acts) {
  return std::adjacent_find(acts.begin(), acts.end(),
                            [](const Sample& a, const Sample& b) { return b.value < a.value; });
}

struct ThirdPartyPluginFixture {
  AgentProcess agent{"featureGates: {Actor: true}\nexporter: {detail: all}",
                     {built("plugins/advisor-node-resource"), built("test/core/child")}};

  // Starts the actor in this role. A `period` also applies to the other plugins, so their ticks can be compared with
  // its own.
  void plays(const std::string& part, std::vector<std::string> settings = {}) {
    std::vector<std::string> arguments;
    settings.push_back("config={part: " + part + "}");
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back("plugins.settings.\"com.example.actor\"." + setting);
      if (!setting.starts_with("period=")) continue;
      arguments.emplace_back("--set");
      arguments.push_back("plugins.settings.advisor-node-resource." + setting);
    }
    REQUIRE(agent.start(arguments));
  }
  bool plugins_say(std::string_view text) {
    bool found = eventually([&] { return contains(agent.ctl({"plugins"}).output, text); });
    if (!found) MESSAGE(agent.ctl({"plugins"}).output, agent.log());
    return found;
  }
  // Returns the plugin's processes, as the agent reports them.
  std::vector<pid_t> processes() {
    constexpr std::string_view kKey = "\"process\":";
    std::vector<pid_t> found;
    std::string plugins = agent.get("/api/v1/plugins");
    for (std::size_t at = plugins.find(kKey); at != std::string::npos; at = plugins.find(kKey, at + 1))
      if (int pid = std::atoi(plugins.c_str() + at + kKey.size()); pid > 0) found.push_back(pid);
    return found;
  }
  // Reads the counter from /metrics, as Prometheus does.
  double calls_of_the_others() {
    return find_metric(agent.metrics_over_tcp(), "koordetector_plugin_calls_total",
                       {"plugin=\"advisor-node-resource\""})
        .value_or(0);
  }
  // Checks that the same agent still ticks its other plugin.
  void check_that_the_others_go_on() {
    double before = calls_of_the_others();
    CHECK(eventually([&] { return calls_of_the_others() > before + 1; }));
    CHECK(agent.process().running());
    CHECK(agent.status_of("/readyz") == 200);
  }
  // Returns the actor's samples, oldest first.
  std::vector<Sample> acts() { return samples_of(agent, "actor_count"); }
  // Returns the ticks of the other plugins between two times; they have the actor's period.
  long ticks_of_the_others_between(double from, double to) {
    const std::vector<Sample> ticks = samples_of(agent, "node_memory_usage");
    return std::count_if(ticks.begin(), ticks.end(),
                         [&](const Sample& tick) { return from < tick.time && tick.time < to; });
  }
};

// Sets the same period for the actor and the other plugins.
std::vector<std::string> every(const std::string& period) { return {"period=" + period, "deadline=" + period}; }

}  // namespace

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "a plugin that leaks is killed at its limit, and the reason is reported") {
  plays("leak", {"maxMemory=64Mi", "period=200ms"});
  CHECK(plugins_say("out of its memory of 64 MiB"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "a plugin that starts endless threads or processes is stopped at its limits") {
  std::string part;
  SUBCASE("threads") { part = "threads"; }
  SUBCASE("processes") { part = "fork"; }
  plays(part, {"maxThreads=16", "period=200ms"});
  auto made = [&] { return find_metric(agent.metrics_over_tcp(), "koordetector_actor_count"); };
  REQUIRE(eventually([&] { return made().has_value(); }));
  CHECK(*made() > 0);
  CHECK(*made() < 16);
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "the next agent ends processes started by a killed agent's plugin") {
  plays("leave one behind");
  auto left = [&] { return find_metric(agent.metrics(), "koordetector_actor_count"); };
  REQUIRE(eventually([&] { return left().has_value(); }));
  const std::string stat = "/proc/" + std::to_string(static_cast<long>(*left())) + "/stat";
  auto is_alive = [&] {
    std::string text;
    std::getline(std::ifstream(stat), text);
    return !text.empty() && !contains(text, ") Z ");
  };
  agent.kill();
  CHECK(is_alive());
  plays("count");
  CHECK(eventually([&] { return !is_alive(); }));
  CHECK(contains(agent.log(), "plugin processes that a previous agent left behind"));
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "acceptance 7: a plugin that dereferences NULL is back within a second of the others' ticks") {
  plays("null later", every("100ms"));
  std::vector<Sample> acts;
  REQUIRE(eventually([&] {
    acts = this->acts();
    return end_of_session(acts) != acts.end();
  }));
  CHECK(find_metric(agent.metrics_over_tcp(), "koordetector_plugin_restarts_total", {"plugin=\"com.example.actor\""})
            .value_or(0) >= 1);
  CHECK(eventually([&] { return contains(agent.get("/api/v1/plugins"), "collect(): "); }));
  CHECK(plugins_say("by signal 11 (Segmentation fault)"));
  check_that_the_others_go_on();

  const double before = end_of_session(acts)->time, after = std::next(end_of_session(acts))->time;
  const long missed = ticks_of_the_others_between(before, after);
  MESSAGE("from its last tick before the crash to the first one after: ", after - before, " s, ", missed,
          " ticks of the others");
  CHECK(missed > 0);
  CHECK(missed <= 10);  // ten ticks of 100 ms: less than the period before the crashed tick and the second after it
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "a plugin that is killed is restarted in another process") {
  plays("count");
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_actor_count").has_value(); }));
  REQUIRE(eventually([&] { return processes().size() == 2; }));
  std::vector<pid_t> first = processes();
  for (pid_t pid : first) ::kill(pid, SIGSEGV);
  CHECK(plugins_say("by signal 11 (Segmentation fault)"));
  CHECK(eventually([&] { return processes().size() == 2 && processes() != first; }));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "a plugin that spins past its deadline is ended") {
  plays("spin", {"deadline=20ms"});
  CHECK(plugins_say("did not return within"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "a plugin that closes its descriptors and writes to them is ended and restarted") {
  plays("close", {"period=200ms"});
  CHECK(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_plugin_restarts_total", {"plugin=\"com.example.actor\""})
               .value_or(0) >= 1;
  }));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "a plugin that answers garbage is ended, and the reason is reported") {
  plays("garbage", {"period=200ms"});
  CHECK(plugins_say("packet of an unknown form"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "a plugin that uses all of its CPU ticks slower, and the table says what it uses") {
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

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "the grants of a plugin are shown, and a capability that amounts to root is reported") {
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: needs root");
    return;
  }
  agent.write_config("  minimumIsolation: [seccomp]\nfeatureGates: {Actor: true}\nexporter: {detail: all}");
  plays("count", {"capabilities=[CAP_CHOWN]", "network=[tcp]"});
  CHECK(plugins_say(" +CAP_CHOWN  "));
  CHECK(plugins_say("  capabilities CAP_CHOWN; network tcp"));
  CHECK(contains(agent.log(), "com.example.actor is granted CAP_CHOWN, which amounts to root"));
  const Finished info = agent.ctl({"plugin", "info", built("test/core/child/actor.so")});
  CHECK_MESSAGE(contains(info.output, "capabilities CAP_CHOWN; network tcp\n"), info.output);
  CHECK_MESSAGE(contains(info.output, "plugins.minimumIsolation  seccomp\n"), info.output);
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "a plugin with isolation: inprocess is refused under a minimum that a reload brings") {
  plays("count", {"isolation=inprocess"});
  REQUIRE(eventually([&] { return find_metric(agent.metrics(), "koordetector_actor_count").has_value(); }));
  CHECK(processes().empty());
  agent.write_config("  minimumIsolation: [uid, seccomp]\nfeatureGates: {Actor: true}\nexporter: {detail: all}");
  agent.process().signal(SIGHUP);
  CHECK(plugins_say("isolation: inprocess has none of plugins.minimumIsolation [uid, seccomp]"));
  check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "the output of a plugin is in the agent's log under its name") {
  plays("print");
  CHECK(eventually([&] { return contains(agent.log(), "com.example.actor: printed by the actor"); }));
  check_that_the_others_go_on();
}

TEST_CASE("koordctl plugin reload replaces a running plugin by its new file, without a gap") {
  TemporaryFolder plugins;
  std::filesystem::copy(built("test/core/child/actor.so"), plugins / "actor.so");
  ThirdPartyPluginFixture fixture{AgentProcess("featureGates: {Actor: true}\nexporter: {detail: all}",
                                               {built("plugins/advisor-node-resource"), plugins.path()})};
  fixture.plays("count", every("500ms"));
  auto calls = [&] {
    return find_metric(fixture.agent.metrics(), "koordetector_plugin_calls_total", {"plugin=\"com.example.actor\""})
        .value_or(0);
  };
  REQUIRE(eventually([&] { return fixture.processes().size() == 2 && fixture.acts().size() >= 2; }));
  const std::vector<pid_t> before = fixture.processes();
  const double calls_before = calls();

  std::filesystem::copy(plugins / "actor.so", plugins / "fresh");
  std::filesystem::rename(plugins / "fresh", plugins / "actor.so");
  Finished reloaded = fixture.agent.ctl({"plugin", "reload", "com.example.actor"});
  CHECK(reloaded.exit_status == 0);
  CHECK(contains(reloaded.output, "com.example.actor 1.0.0 is running"));
  const std::vector<pid_t> after = fixture.processes();
  REQUIRE(after.size() == 2);
  for (pid_t pid : before) CHECK(std::find(after.begin(), after.end(), pid) == after.end());
  CHECK(calls() > calls_before);
  CHECK(find_metric(fixture.agent.metrics(), "koordetector_plugin_reloads_total", {"plugin=\"com.example.actor\""}) ==
        1);

  std::vector<Sample> acts;
  REQUIRE(eventually([&] {
    acts = fixture.acts();
    return acts.end() - end_of_session(acts) > 2;
  }));
  const Sample last = *end_of_session(acts), first = *std::next(end_of_session(acts));
  const long others = fixture.ticks_of_the_others_between(last.time, first.time);
  MESSAGE("from the old one's last tick to the new one's first: ", first.time - last.time, " s, ", others,
          " ticks of the others");
  CHECK(others <= 2);

  // A file that is not a plugin leaves the old plugin unchanged.
  std::ofstream(plugins / "fresh") << "no plugin";
  std::filesystem::rename(plugins / "fresh", plugins / "actor.so");
  Finished refused = fixture.agent.ctl({"plugin", "reload", "com.example.actor"});
  CHECK(refused.exit_status == 1);
  CHECK_MESSAGE(contains(refused.output, "was not reloaded: "), refused.output);
  CHECK_MESSAGE(contains(refused.output, "'" + (plugins / "actor.so") + "': truncated: expected the ELF header"),
                refused.output);
  CHECK(fixture.processes() == after);
  fixture.check_that_the_others_go_on();
}

TEST_CASE(
    "a configuration that the schema or the plugin refuses at SIGHUP leaves the old one in force, and is reported once") {
  const auto config = [](const std::string& part) {
    return "  settings: {com.example.actor: {period: 100ms, config: {part: " + part +
           "}}}\nfeatureGates: {Actor: true}\nexporter: {detail: all}";
  };
  ThirdPartyPluginFixture fixture{
      AgentProcess(config("count"), {built("plugins/advisor-node-resource"), built("test/core/child")})};
  AgentProcess& agent = fixture.agent;
  REQUIRE(agent.start());
  auto count = [&] { return find_metric(agent.metrics(), "koordetector_actor_count").value_or(0); };
  auto refused = [&] {
    return find_metric(agent.metrics(), "koordetector_plugin_refused_configs_total", {"plugin=\"com.example.actor\""})
        .value_or(0);
  };
  REQUIRE(eventually([&] { return count() > 0 && fixture.processes().size() == 2; }));
  const std::vector<pid_t> actor = fixture.processes();

  const std::string by_schema = "keeps its old configuration: configuration: /part",
                    by_plugin = "on_event(): KOORD_E_INVALID: no such part in this play";
  agent.write_config(config("7"));
  agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return refused() == 1; }));
  CHECK(fixture.plugins_say(by_schema));
  CHECK(fixture.processes() == actor);

  agent.write_config(config("refused"));
  agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return refused() == 2; }));
  CHECK(fixture.plugins_say(by_plugin));

  for (const std::string& reason : {by_schema, by_plugin}) {
    REQUIRE(eventually([&] { return contains(agent.log(), reason); }));
    CHECK_MESSAGE(agent.log().find(reason) == agent.log().rfind(reason), agent.log());
  }
  double before = count();
  CHECK(eventually([&] { return count() > before; }));  // the effect of "count"
  CHECK(fixture.processes()[0] == actor[0]);
  fixture.check_that_the_others_go_on();
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture,
                  "a reload works only over the socket, not on the port that Prometheus scrapes") {
  plays("count");
  const std::string path = "/api/v1/plugins/com.example.actor/reload";
  CHECK(agent.post_over_tcp(path) == 404);
  CHECK(agent.status_of(path) == 405);  // a GET request, on the socket
}

TEST_CASE_FIXTURE(ThirdPartyPluginFixture, "nothing of a plugin remains when the agent ends") {
  plays("count");
  REQUIRE(eventually([&] { return processes().size() == 2; }));
  std::vector<pid_t> left = processes();
  CHECK(agent.stop() == 0);
  for (pid_t pid : left) CHECK(::kill(pid, 0) != 0);
}
