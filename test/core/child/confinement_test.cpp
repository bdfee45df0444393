// SPDX-License-Identifier: Apache-2.0
// Limits of a plugin's process on this machine's kernel. Needs root.
#include "core/child/confinement.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/parse.hpp"
#include "core/child/end_processes.hpp"
#include "core/child/orphans.hpp"
#include "core/child/plugins_cgroup.hpp"
#include "test/core/child/confinement_node.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::child;
using namespace std::chrono_literals;
using cgroup::Controller;
using test::ChildProcess;

namespace {

// Returns the processes in a plugin's cgroup and in the cgroup of its first child.
std::string members_of_plugin(const std::string& directory) {
  return std::string(trim(read_file(directory + "/cgroup.procs").value_or("") +
                          read_file(directory + "/child-1/cgroup.procs").value_or("")));
}
// Unlike a ChildProcess, this process outlives its parent.
pid_t spawn_as_the_agent_does(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) ::_exit(1);
  return pid;
}

void touch_megabytes(int megabytes) {
  for (int i = 0; i < megabytes; ++i) {
    auto* memory = static_cast<volatile char*>(std::malloc(1 << 20));
    for (int at = 0; at < 1 << 20; at += 4096) memory[at] = 1;
  }
}

}  // namespace

TEST_CASE_FIXTURE(Node, "a process that takes more memory than it may is killed, and that is counted") {
  Confinement confinement(layout, id, {.memory_bytes = 8 << 20});
  REQUIRE(confinement.problems().empty());
  Waiting greedy([] { touch_megabytes(64); });
  confinement.add(greedy.process().pid());
  greedy.go();
  auto status = greedy.process().wait(20s);
  REQUIRE(status);
  CHECK(WTERMSIG(*status) == SIGKILL);
  CHECK(confinement.oom_kills() == 1);
}

TEST_CASE_FIXTURE(Node, "a process that stays below its limits is left alone") {
  Confinement confinement(layout, id, {.memory_bytes = 64 << 20, .cpu_millis = 500, .processes = 8});
  CHECK(confinement.problems().empty());
  Waiting modest([] { touch_megabytes(4); });
  confinement.add(modest.process().pid());
  modest.go();
  auto status = modest.process().wait(20s);
  REQUIRE(status);
  CHECK(*status == 0);
  CHECK(confinement.oom_kills() == 0);
}

TEST_CASE_FIXTURE(Node, "the settings of a second start apply from then on") {
  Confinement first(layout, id, {.processes = 8});
  Confinement second(layout, id, {.processes = 16});
  CHECK(read_file(file(Controller::pids, "pids.max")).value_or("") == "16\n");
}

TEST_CASE_FIXTURE(Node, "the cgroup is removed with the last child") {
  { Confinement confinement(layout, id, {.memory_bytes = 64 << 20, .cpu_millis = 500, .processes = 8}); }
  for (Controller controller : {Controller::memory, Controller::cpu, Controller::pids})
    CHECK_FALSE(std::filesystem::exists(file(controller, "cgroup.procs")));
}

// The state is the same as if the agent could not make a cgroup for the child.
TEST_CASE_FIXTURE(Node, "the cgroup goes when a killed process in it has ended, also if it was in no child's cgroup") {
  Waiting late([] {});  // forked first, because it inherits open descriptors and their locks
  auto confinement = std::make_unique<Confinement>(layout, id, host::RunnerLimits{.cpu_millis = 500});
  REQUIRE(write_value(file(Controller::cpu, "cgroup.procs"), std::to_string(late.process().pid())));
  const std::string own = layout.unified_directory(plugin()).empty() ? layout.directory(Controller::pids, plugin())
                                                                     : layout.unified_directory(plugin());
  REQUIRE(std::filesystem::exists(own + "/child-1"));
  std::thread end([&] { confinement.reset(); });
  // the first cgroup to be removed
  CHECK(test::eventually([&] { return !std::filesystem::exists(own + "/child-1"); }));
  late.go();
  end.join();
  CHECK_FALSE(std::filesystem::exists(file(Controller::cpu, "cgroup.procs")));
}

TEST_CASE_FIXTURE(Node, "the cgroup stays for another child") {
  auto first = std::make_unique<Confinement>(layout, id, host::RunnerLimits{.cpu_millis = 500});
  Confinement second(layout, id, {.cpu_millis = 500});
  Waiting member([] {});
  second.add(member.process().pid());
  first.reset();
  CHECK(std::filesystem::exists(file(Controller::cpu, "cgroup.procs")));
  member.go();
}

TEST_CASE_FIXTURE(Node, "the cgroup stays for another child that has no process in it yet") {
  auto first = std::make_unique<Confinement>(layout, id, host::RunnerLimits{.cpu_millis = 500, .processes = 8});
  Confinement second(layout, id, {.cpu_millis = 500, .processes = 8});
  first.reset();
  Waiting member([] {});
  second.add(member.process().pid());
  CHECK(is_member(Controller::cpu, member.process().pid()));
  CHECK(second.problems() == "");
  member.go();
}

TEST_CASE("a controller that the node lacks is reported by name") {
  std::string empty = std::filesystem::temp_directory_path() / ("koord-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(empty + "/memory");
  auto layout = cgroup::Layout::detect({.cgroup = empty});
  REQUIRE(layout);
  Confinement confinement(*layout, "koord-test", {.memory_bytes = 1 << 20, .processes = 8});
  CHECK(confinement.problems().find("pids: this node has no such controller") != std::string::npos);
  std::filesystem::remove_all(empty);
}

namespace {

// A plugin process that still runs after its agent was killed.
struct LeftBehind : Node {
  pid_t pid = 0;

  LeftBehind() {
    ChildProcess agent([this] {
      Confinement confinement(layout, id, {.processes = 8});
      confinement.add(spawn_as_the_agent_does({"sleep", "1000"}));
      ::pause();
    });
    auto first = [&] { return parse_int(members_of_plugin(layout.directory(Controller::pids, plugin()))).value_or(0); };
    REQUIRE(test::eventually([&] { return first() > 0; }));
    pid = static_cast<pid_t>(first());
    agent.signal(SIGKILL);
    REQUIRE(agent.wait(20s));
  }
  ~LeftBehind() { ::kill(pid, SIGKILL); }
  LeftBehind(const LeftBehind&) = delete;
  LeftBehind& operator=(const LeftBehind&) = delete;
};

}  // namespace

namespace {

// Leaves its parent, session and process group as daemons do. The first process ends immediately.
void daemonise_and(const std::function<void()>& go_on) {
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  go_on();
  ::_exit(0);
}

void fork_for_ever() {
  for (;;) [[maybe_unused]] pid_t pid = ::fork();
}

}  // namespace

TEST_CASE_FIXTURE(Node, "daemons of a child end with its cgroup") {
  Confinement confinement(layout, id, {.processes = 8});
  Waiting child([] { daemonise_and([] { ::pause(); }); });
  confinement.add(child.process().pid());
  child.go();
  REQUIRE(child.process().wait(60s));
  CHECK(
      // the daemon is in it, and its parent is not this process
      has_processes(layout.directory(Controller::pids, plugin())));
  confinement.end_all();
  CHECK_FALSE(has_processes(layout.directory(Controller::pids, plugin())));
}

TEST_CASE_FIXTURE(Node, "a process that forks without end is ended with all its copies") {
  Confinement confinement(layout, id, {.processes = 64});
  Waiting child([] { daemonise_and(fork_for_ever); });
  confinement.add(child.process().pid());
  child.go();
  REQUIRE(child.process().wait(60s));
  const std::string used = file(Controller::pids, "pids.current");
  REQUIRE(test::eventually([&] { return parse_int(trim(read_file(used).value_or(""))).value_or(0) > 32; }, 60s));
  confinement.end_all();
  CHECK_FALSE(has_processes(layout.directory(Controller::pids, plugin())));
}

TEST_CASE_FIXTURE(Node, "processes of a plugin's other children stay when one child ends") {
  Confinement first(layout, id, {.processes = 16});
  ChildProcess stays(std::vector<std::string>{"sleep", "1000"});
  first.add(stays.pid());
  {
    Confinement second(layout, id, {.processes = 16});
    ChildProcess goes(std::vector<std::string>{"sleep", "1000"});
    second.add(goes.pid());
    second.end_all();
    CHECK(goes.wait(60s));
  }
  CHECK(stays.running());
  CHECK(has_processes(layout.directory(Controller::pids, plugin())));
}

TEST_CASE_FIXTURE(Node,
                  "daemons of a killed agent's child have ended before the sweep returns, and no cgroup is left") {
  ChildProcess agent([this] {
    Confinement confinement(layout, id, {.processes = 64});
    // Waits for its confinement, then starts sleepers in a different session, which no parent waits for.
    pid_t child =
        spawn_as_the_agent_does({"sh", "-c", "kill -STOP $$; setsid sh -c 'while :; do sleep 1000 & done' & exit"});
    ::waitpid(child, nullptr, WUNTRACED);
    confinement.add(child);
    ::kill(child, SIGCONT);
    ::pause();
  });
  const std::string used = file(Controller::pids, "pids.current");
  REQUIRE(test::eventually([&] { return parse_int(trim(read_file(used).value_or(""))).value_or(0) > 32; }, 60s));
  agent.signal(SIGKILL);
  REQUIRE(agent.wait(60s));
  CHECK(end_orphans(layout) > 1);
  for (Controller controller : {Controller::core, Controller::memory, Controller::cpu, Controller::pids})
    CHECK_FALSE(std::filesystem::exists(file(controller, "cgroup.procs")));
}

TEST_CASE("a process that a killed agent left behind is ended, also when its new parent is not process 1") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  LeftBehind left;
  CHECK(end_orphans(left.layout) >= 1);
  int status = 0;
  REQUIRE(test::eventually([&] { return ::waitpid(left.pid, &status, WNOHANG) == left.pid; }));
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  end_orphans(left.layout);  // the cgroup is empty now, and is removed
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE_FIXTURE(Node, "the processes of an agent that runs are no orphans") {
  Confinement confinement(layout, id, {.processes = 8});
  ChildProcess plugin(std::vector<std::string>{"sleep", "1000"});
  confinement.add(plugin.pid());
  end_orphans(layout);
  CHECK(plugin.running());
  CHECK(members_of_plugin(layout.directory(Controller::pids, this->plugin())) == std::to_string(plugin.pid()));
}

namespace {

bool delegates_by_namespace() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);)
    if (line.find(" cgroup2 ") != std::string::npos && line.find("nsdelegate") != std::string::npos) return true;
  return false;
}

// Confines a process from inside a cgroup namespace, as an agent in a container does. Exits with 1 if that fails.
void confine_in_a_namespace(const Node& node, const test::RealCgroup& container) {
  container.add_process(::getpid());
  if (::unshare(CLONE_NEWCGROUP) != 0) ::_exit(2);
  Confinement confinement(node.layout, node.id, {.memory_bytes = 64 << 20, .processes = 8});
  ChildProcess plugin(std::vector<std::string>{"sleep", "1000"});
  confinement.add(plugin.pid());
  const std::string own = container.path(Controller::pids) + "/" + std::string(kPluginsCgroup) + "/" + node.id;
  const bool inside = members_of_plugin(own) == std::to_string(plugin.pid());
  const bool limited = trim(read_file(own + "/pids.max").value_or("")) == "8";
  if (!confinement.problems().empty()) std::fprintf(stderr, "%s\n", confinement.problems().c_str());
  plugin.signal(SIGKILL);
  plugin.wait(20s);
  if (!inside || !limited || !confinement.problems().empty()) ::_exit(1);
}

}  // namespace

TEST_CASE_FIXTURE(Node,
                  "in a cgroup namespace that processes may not leave, limits hold below the agent's own cgroup") {
  if (layout.hierarchy() != cgroup::Hierarchy::v2 || !delegates_by_namespace()) {
    MESSAGE("SKIPPED: cgroups here are not version 2 with nsdelegate");
    return;
  }
  test::RealCgroup container("container");
  ChildProcess agent([&] { confine_in_a_namespace(*this, container); });
  auto status = agent.wait(60s);
  REQUIRE(status);
  CHECK(WEXITSTATUS(*status) == 0);
  for (std::string_view below : {kAgentCgroup, kPluginsCgroup})
    test::eventually(
        [&] {
          return ::rmdir((container.path(Controller::core) + "/" + std::string(below)).c_str()) == 0 || errno == ENOENT;
        },
        5s);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
