// SPDX-License-Identifier: Apache-2.0
// Two agents with different state directories on one cgroup tree: only one of them writes.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/fake_node.hpp"

using namespace koord::test;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct TwoAgents {
  FakeNode node{
      {"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/be/cpu.max", "max 100000\n"}, {"cgroup/be/cpu.weight", "100\n"}};
  TemporaryFolder plugins;
  AgentProcess first{config("20000"), {plugins / "own"}}, second{config("30000"), {plugins / "own"}};

  TwoAgents() {
    std::filesystem::create_directory(plugins / "own");
    std::filesystem::copy_file(built("test/e2e/plugins/writer.so"), plugins / "own/writer.so");
    // Agents of other tests may write the same tree at the same time. Only one of these two may.
    for (AgentProcess* agent : {&first, &second}) agent->run_by({"/usr/bin/env", "KOORD_SHARED_CGROUP_TREE=0"});
  }
  std::string config(const std::string& quota_us) const {
    return "  settings: {writer: {config: {cgroup: be, quota: \"" + quota_us +
           " 100000\", shares: \"512\"}}}\nroots: {cgroup: \"" + node.path("cgroup") +
           "\"}\nstate: {source: cgroup}\nqos: {mode: enforce}\n";
  }
  static bool start(AgentProcess& agent) { return agent.start({"--feature-gates=Writer=true"}); }
  std::string quota() const {
    return std::string(koord::trim(koord::read_file(node.path("cgroup/be/cpu.max")).value_or("")));
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    TwoAgents,
    "a second agent on a cgroup tree writes nothing, names pid and qos.directory of the first, and writes when that has ended") {
  REQUIRE(start(first));
  REQUIRE_MESSAGE(eventually([&] { return quota() == "20000 100000"; }), first.log());
  const std::string holder = "another agent writes to the cgroup tree '" + node.path("cgroup") + "': process " +
                             std::to_string(first.process().pid()) + " (koordetector) with qos.directory '" +
                             first.folder() / "qos" + "'";
  REQUIRE(start(second));
  CHECK_MESSAGE(contains(second.log(), "no knob is written: " + holder), second.log());
  CHECK(contains(second.ctl({"capabilities"}).output, "no knob is written: another agent writes to the cgroup tree"));
  CHECK_MESSAGE(
      eventually([&] { return contains(second.ctl({"decisions"}).output, "another agent writes to the cgroup tree"); }),
      second.log());
  CHECK(contains(second.get("/readyz"), "; 0 knobs held"));
  CHECK(quota() == "20000 100000");

  CHECK(first.stop() == 0);
  CHECK_MESSAGE(eventually([&] { return quota() == "30000 100000"; }), second.log());
  CHECK(eventually([&] { return contains(second.get("/readyz"), "[+] qos: ok"); }));
  CHECK(second.stop() == 0);
  CHECK(quota() == "max 100000");
}

TEST_CASE_FIXTURE(TwoAgents,
                  "a second agent that has nothing to write becomes ready to write when the first has ended") {
  REQUIRE(start(first));
  REQUIRE(second.start());
  CHECK(contains(second.get("/readyz"), "degraded, no knob is written: another agent writes to the cgroup tree"));
  CHECK(first.stop() == 0);
  CHECK_MESSAGE(eventually([&] { return contains(second.get("/readyz"), "[+] qos: ok, 0 knobs held"); }), second.log());
  CHECK(second.stop() == 0);
}
