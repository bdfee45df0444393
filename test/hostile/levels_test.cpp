// SPDX-License-Identifier: Apache-2.0
// Nodes that lack one isolation layer. koordctl shows the level, plugins are refused if the layer is required, and the
// other layers stop attacks.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/child/landlock.hpp"
#include "test/hostile/agent_view.hpp"
#include "test/hostile/configuration.hpp"
#include "test/hostile/raid.hpp"

using namespace koord;
using namespace koord::hostile;
using test::AgentProcess;
using test::built;
using test::eventually;

namespace {

struct Lacking {
  Rights rights;
  const char* level;  // level of the plugins in koordctl
  const char* reason;
};

constexpr Lacking kLacking[] = {
    {Rights::without_landlock, "uid+seccomp+cgroup", "switched off for a test"},
    {Rights::without_setuid, "landlock+seccomp+cgroup", "the agent lacks CAP_SETUID"},
};

// An agent with only the bystander.
struct AgentWithBystander {
  AgentProcess agent;

  explicit AgentWithBystander(Rights rights, const std::string& minimum_isolation) {
    std::filesystem::copy(built("test/hostile/bystander.so"), agent.plugin_folder() + "/bystander.so");
    agent.write_config("  minimumIsolation: [" + minimum_isolation + "]\n  settings:\n" + settings_of({}, "3s", {}) +
                       "featureGates:\n" + gates_of({}));
    agent.run_by(words_of(rights, agent.folder().path()));
  }
  PluginView view_in(const std::string& state) {
    PluginView view;
    eventually([&] { return (view = plugin_view(agent, "com.bystander")).state == state; });
    return view;
  }
};

bool has_landlock() { return child::landlock_abi().has_value(); }

void skip() { MESSAGE("SKIPPED: this kernel has no Landlock"); }

}  // namespace

TEST_CASE(
    "a missing layer is shown by koordctl plugins, and minimumIsolation of the other layers lets the plugin run") {
  if (!has_landlock()) return skip();
  for (const Lacking& lacking : kLacking) {
    AgentWithBystander with(lacking.rights, "seccomp, cgroup");
    REQUIRE(with.agent.start());
    CHECK_MESSAGE(with.view_in("running").state == "running", lacking.level);
    CHECK(level_of(with.agent, "com.bystander") == lacking.level);
  }
}

TEST_CASE(
    "minimumIsolation with a missing layer refuses the plugin, starts no process, and names the layer and the reason") {
  if (!has_landlock()) return skip();
  for (const Lacking& lacking : kLacking) {
    const std::string layer(lacking_layer(lacking.rights));
    AgentWithBystander with(lacking.rights, layer);
    REQUIRE(with.agent.start());
    const PluginView view = with.view_in("refused");
    CHECK(view.state == "refused");
    CHECK_MESSAGE(
        view.reason.find("expected the isolation layer '" + layer +
                         "' (plugins.minimumIsolation), which is missing: " + lacking.reason) != std::string::npos,
        view.reason);
    CHECK(plugin_pids(with.agent).empty());
    CHECK(with.agent.log().find("com.bystander") != std::string::npos);
  }
}

TEST_CASE("without one layer the other layers still stop a selection of attacks") {
  if (!has_landlock()) return skip();
  std::vector<const Attack*> selection;
  for (const Attack& attack : attacks())
    for (const char* name : {"core_pattern", "release_agent", "system_files", "become_root", "own_directory",
                             "programs", "memory_of_agent", "memory_of_sibling", "own_memory_limit", "sibling_cgroup",
                             "limit_sibling", "ptrace", "unix_socket", "fs_environ"})
      if (attack.name == name) selection.push_back(&attack);
  for (const Lacking& lacking : kLacking)
    for (const Verdict& verdict : run_raid(selection, lacking.rights))
      for (const std::string& complaint : verdict.complaints) {
        INFO(verdict.attack, " ", std::string(lacking.level));
        CHECK_MESSAGE(complaint.empty(), complaint);
      }
}
