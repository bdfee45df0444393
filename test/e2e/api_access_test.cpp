// SPDX-License-Identifier: Apache-2.0
// Tests which processes the data API serves, with real users, groups, cgroups and plugins: root and a configured group,
// never a plugin's process. The record of each change names the user and the process that requested it.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Ids that the user and group files of this machine do not contain.
constexpr const char *kOtherUid = "64123", *kOtherGid = "64124", *kOperatorsGid = "64125";

struct ServedAgent {
  explicit ServedAgent(std::string_view extra = {}, std::vector<std::string> plugins = {})
      : agent(extra, std::move(plugins)) {
    ::chmod(agent.folder().path().c_str(), 0711);  // others may reach the socket if its mode allows them to
  }

  // Runs koordctl as a different user.
  Finished as(std::vector<std::string> setpriv, std::vector<std::string> arguments) const {
    setpriv.insert(setpriv.begin(), "setpriv");
    setpriv.push_back(built("core/ctl/koordctl"));
    setpriv.insert(setpriv.end(), arguments.begin(), arguments.end());
    setpriv.insert(setpriv.end(), {"--socket", agent.socket()});
    return run_to_end(setpriv);
  }
  // Runs koordctl in a cgroup.
  Finished in(const RealCgroup& cgroup, const std::string& arguments) const {
    std::string enter;
    for (koord::cgroup::Controller controller : {koord::cgroup::Controller::cpu, koord::cgroup::Controller::memory})
      if (const std::string path = cgroup.path(controller); !path.empty())
        enter += "echo $$ > " + path + "/cgroup.procs && ";
    return run_to_end(
        {"sh", "-c", enter + "exec " + built("core/ctl/koordctl") + " " + arguments + " --socket " + agent.socket()});
  }
  std::string node_mode() const { return agent.get("/api/v1/modes"); }

  AgentProcess agent;
};

const std::vector<std::string> kOther{"--reuid", kOtherUid, "--regid", kOtherGid, "--clear-groups"};
const std::vector<std::string> kMember{"--reuid", kOtherUid, "--regid", kOtherGid, "--groups", kOperatorsGid};

}  // namespace

TEST_CASE("a change of a mode by root is recorded with user, process and program") {
  ServedAgent served;
  REQUIRE(served.agent.start());
  REQUIRE(served.agent.ctl({"mode", "node", "off", "--for", "1h"}).exit_status == 0);
  const std::string events = served.agent.ctl({"events"}).output;
  INFO(events);
  CHECK(contains(events, "mode of node: off for 1h"));
  CHECK(contains(events, "by operator uid 0 pid "));
  CHECK(contains(events, "(koordctl)"));
  CHECK(contains(served.agent.ctl({"mode"}).output, "operator uid 0 pid "));
  REQUIRE(served.agent.ctl({"restore"}).exit_status == 0);
  CHECK(contains(served.agent.ctl({"events"}).output, "restore: 0 knobs reverted"));
}

TEST_CASE("another user is served as a member of listen.socketGroup, and refused otherwise") {
  ServedAgent served("", {});
  REQUIRE(served.agent.start({"--set", std::string("listen.socketGroup=") + kOperatorsGid}));
  const Finished member = served.as(kMember, {"mode", "node", "shadow", "--for", "1h"});
  CHECK_MESSAGE(member.exit_status == 0, member.output);
  CHECK(contains(served.agent.ctl({"events"}).output, std::string("by operator uid ") + kOtherUid + " pid "));
  CHECK(served.as(kOther, {"mode"}).exit_status != 0);  // the kernel refuses the connection
  REQUIRE(::chmod(served.agent.socket().c_str(), 0666) == 0);
  const Finished refused = served.as(kOther, {"mode", "node", "off", "--for", "1h"});
  CHECK(refused.exit_status != 0);
  CHECK_MESSAGE(contains(refused.output, std::string("the data API is for operators: uid ") + kOtherUid),
                refused.output);
  CHECK_FALSE(contains(served.node_mode(), "\"off\""));
}

TEST_CASE("without a group another user is refused, even if the socket's mode allows the connection") {
  ServedAgent served;
  REQUIRE(served.agent.start());
  REQUIRE(::chmod(served.agent.socket().c_str(), 0666) == 0);
  const Finished refused = served.as(kMember, {"plugins"});
  CHECK(refused.exit_status != 0);
  CHECK_MESSAGE(contains(refused.output, "is not root (listen.socketGroup may name a group)"), refused.output);
}

TEST_CASE("root is refused for every request in the cgroup of a plugin, and served in another cgroup") {
  ServedAgent served;
  REQUIRE(served.agent.start());
  RealCgroup outer("access");
  RealCgroup plugins(outer, "koordetector-plugins");
  RealCgroup plugin(plugins, "com.example.evil");
  CHECK(served.in(outer, "plugins").exit_status == 0);
  for (const char* command : {"plugins", "mode node off --for 1h", "restore", "plugin reload com.example.evil"}) {
    const Finished refused = served.in(plugin, command);
    CAPTURE(command);
    CHECK(refused.exit_status != 0);
    CHECK_MESSAGE(contains(refused.output, "is a plugin's process, in the cgroup '"), refused.output);
  }
  CHECK_FALSE(contains(served.node_mode(), "\"off\""));
  CHECK(contains(served.agent.log(), "the data API is for operators: uid 0 pid "));
}

TEST_CASE("a plugin cannot act as the operator") {
  ServedAgent served("featureGates: {Actor: true}", {built("test/core/child")});
  const std::string config =
      "plugins.settings.\"com.example.actor\".config={part: operate, target: \"/api/v1/modes/node?mode=off&for=1h\", socket: \"" +
      served.agent.socket() + "\"}";
  REQUIRE(served.agent.start({"--set", config}));
  const auto answer = [&] { return find_metric(served.agent.metrics(), "koordetector_actor_count"); };
  REQUIRE(eventually([&] { return answer().has_value(); }, std::chrono::seconds(60)));
  // 403, or its confinement keeps it from the socket.
  CHECK_MESSAGE((*answer() == 403 || *answer() < 0), *answer());
  CHECK_FALSE(contains(served.node_mode(), "\"off\""));
  CHECK_FALSE(contains(served.agent.ctl({"events"}).output, "mode of node"));
}

TEST_CASE("a plugin file that another user owns is refused at a reload") {
  ServedAgent served("", {});
  REQUIRE(served.agent.start({"--set", "plugins.directories=[" + served.agent.plugin_folder() + "]"}));
  const std::string file = served.agent.plugin_folder() + "/actor.so";
  std::filesystem::copy_file(built("test/core/child/actor.so"), file);
  REQUIRE(::chown(file.c_str(), 64123, 64124) == 0);
  const Finished refused = served.agent.ctl({"plugin", "reload", "com.example.actor"});
  CHECK(refused.exit_status != 0);
  CHECK_MESSAGE(contains(refused.output, "actor.so': expected owner uid 0, found uid 64123"), refused.output);
  const std::string events = served.agent.ctl({"events"}).output;
  CHECK_MESSAGE(contains(events, "reload of plugin com.example.actor"), events);
  CHECK(contains(events, ", refused: "));
}
