// SPDX-License-Identifier: Apache-2.0
// The agent's verdict about a service that shares its CPU with a hog in a different cgroup, as koordctl shows it.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <chrono>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/pinned_load.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr const char* kConfig = R"(state: {source: cgroup, cgroup: {paths: ["koord-test-*", "koord-test-*/*"]}})";
constexpr auto kMinute = 1min;

// Sets the CPU weight of a cgroup. The weights of the fixture are large, so other load of the machine hardly matters.
// The service has a quarter of the hog's weight, which is too little for its load.
void prefer(const RealCgroup& cgroup, const char* shares, const char* weight) {
  const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
  const bool is_v2 = ::access((directory + "/cpu.weight").c_str(), F_OK) == 0;
  REQUIRE(koord::write_value(directory + (is_v2 ? "/cpu.weight" : "/cpu.shares"), is_v2 ? weight : shares));
}

struct InterferenceFixture {
  InterferenceFixture() {
    run_on_other_cpus();
    prefer(service_pod, "65536", "2500");
    prefer(hog_pod, "262144", "10000");
  }

  bool start(const std::vector<std::string>& arguments = {"--feature-gates=InterferenceCollector=true"}) {
    return agent.start(arguments);
  }

  // Returns the verdicts of koordctl about the service.
  json::array verdicts(std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{"interference", service.dir(), "-o", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = agent.ctl(arguments);
    if (finished.exit_status != 0) return {};
    return json::parse(finished.output).at("verdicts").as_array();
  }
  // Returns the newest verdict with the hog as the first suspect; null if no such verdict exists.
  json::value against_hog(const std::vector<std::string>& options = {}) const {
    for (const json::value& verdict : verdicts(options)) {
      const json::array& suspects = verdict.at("suspects").as_array();
      if (!suspects.empty() && suspects[0].at("name").as_string() == hog.dir()) return verdict;
    }
    return {};
  }
  std::string text(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "interference");
    return agent.ctl(arguments).output;
  }

  RealCgroup service_pod{"service"}, hog_pod{"hog"};
  RealCgroup service{service_pod, "main"}, hog{hog_pod, "main"};
  AgentProcess agent{kConfig, {built("plugins/advisor-interference")}};
};

// Returns whether a verdict names the pod's cgroup. Pod cgroups are listed as containers, too, but they must be neither
// victims nor suspects.
bool names_pod(const json::array& verdicts, const RealCgroup& pod) {
  for (const json::value& verdict : verdicts) {
    if (verdict.at("victim").at("name").as_string() == pod.dir()) return true;
    for (const json::value& suspect : verdict.at("suspects").as_array())
      if (suspect.at("name").as_string() == pod.dir()) return true;
  }
  return false;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a hog beside a service is found, named first, shown by all commands, and cleared after its end") {
  InterferenceFixture fixture;
  const auto service = start_in(fixture.service, serve);
  REQUIRE(fixture.start());
  REQUIRE(eventually([&] {
    return find_metric(fixture.agent.metrics(), "koordetector_container_held_up_ratio",
                       {"container_name=\"" + fixture.service.dir() + '"'})
        .has_value();
  }));
  CHECK(fixture.against_hog({"--state", "any"}).is_null());
  auto hog = start_in(fixture.hog, spin);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE_MESSAGE(eventually([&] { return !fixture.against_hog().is_null(); }, kMinute), fixture.text({"matrix"}),
                  fixture.text({}), fixture.agent.log());
  const double found_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(found_s < 20);
  const json::value verdict = fixture.against_hog();
  CHECK(verdict.at("state") == "standing");
  CHECK(verdict.at("kind") == "interfered");
  CHECK(verdict.at("victim").at("name").as_string() == fixture.service.dir());
  CHECK(verdict.at("plugin") == "advisor-interference");

  const std::string text = fixture.text({fixture.service.dir()});
  CHECK_MESSAGE(has(text, fixture.service.dir() + "  INTERFERED  resource cpu  ("), text);
  CHECK_MESSAGE(has(text, "  caused   1. " + fixture.hog.dir()), text);
  CHECK_MESSAGE(has(fixture.agent.ctl({"top", "--once"}).output, "cpu "), fixture.agent.ctl({"top", "--once"}).output);
  CHECK(has(fixture.agent.ctl({"capabilities"}).output, "verdict.cpu"));
  const auto matrix = [&] { return fixture.text({"matrix", "--pod", fixture.service.dir()}); };
  CHECK_MESSAGE(eventually([&] { return has(matrix(), fixture.hog.dir()); }, kMinute), matrix());

  hog.reset();
  const auto end = std::chrono::steady_clock::now();
  REQUIRE(eventually([&] { return fixture.against_hog().is_null(); }, kMinute));
  const double cleared_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - end).count();
  CHECK(cleared_s < 30);
  const json::value ended = fixture.against_hog({"--since", "5m"});
  REQUIRE_FALSE(ended.is_null());
  CHECK(ended.at("state") == "ended");
  for (const RealCgroup* pod : {&fixture.service_pod, &fixture.hog_pod})
    CHECK_FALSE(names_pod(fixture.verdicts({"--since", "5m"}), *pod));
  MESSAGE("found after ", found_s, " s, cleared after ", cleared_s, " s");
  CHECK(fixture.agent.stop() == 0);
}

TEST_CASE("with the gate off koordctl names the gate to turn on, and a wrong option or pod is an error") {
  InterferenceFixture fixture;
  REQUIRE(fixture.start({}));
  CHECK_MESSAGE(has(fixture.text({}), "The feature gate InterferenceCollector is off"), fixture.text({}));
  CHECK_MESSAGE(has(fixture.text({"matrix"}), "The feature gate InterferenceCollector is off"),
                fixture.text({"matrix"}));
  CHECK(has(fixture.agent.ctl({"capabilities"}).output, "the feature gate InterferenceCollector is off"));
  const Finished unknown = fixture.agent.ctl({"interference", "no-such-pod", "--state", "over"});
  CHECK(unknown.exit_status == 1);
  CHECK_MESSAGE(has(unknown.output, "state 'over' is not one of standing, ended, any"), unknown.output);
  CHECK(fixture.agent.ctl({"interference", "-o", "yaml"}).exit_status == 2);
  CHECK(fixture.agent.ctl({"plugins", "-o", "wide"}).exit_status == 2);
  CHECK(fixture.agent.status_of("/api/v1/interference?pod=%00%ff") == 400);
  CHECK(fixture.agent.status_of("/api/v1/interference?limit=99999999999999999999") == 400);
  CHECK(fixture.agent.stop() == 0);
}

TEST_CASE("a verdict is active again after a restart of the agent, under a new session") {
  InterferenceFixture fixture;
  const auto service = start_in(fixture.service, serve), hog = start_in(fixture.hog, spin);
  for (int session = 0; session < 2; ++session) {
    CAPTURE(session);
    REQUIRE(fixture.start());
    CHECK_MESSAGE(eventually([&] { return !fixture.against_hog().is_null(); }, kMinute), fixture.text({"matrix"}));
    fixture.agent.kill();
  }
}
