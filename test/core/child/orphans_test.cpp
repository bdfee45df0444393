// SPDX-License-Identifier: Apache-2.0
// Plugin cgroups that a previous agent did not remove, in a tree of plain files.
#include "core/child/orphans.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "core/cgroup/layout.hpp"
#include "test/support/child_process.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::child;
using namespace std::chrono_literals;
using koord::test::ChildProcess;
using koord::test::FakeNode;

namespace {

// A cgroup v2 tree with this process in one cgroup and an orphan in a different cgroup.
struct Tree {
  FakeNode node{{"cgroup/cgroup.controllers", "cpu memory pids\n"}, {"cgroup/cgroup.procs", "1\n"}};
  ChildProcess orphan{std::vector<std::string>{"sleep", "1000"}};

  Tree(const std::string& own, const std::string& plugin) {
    node.write("cgroup/" + own + "/cgroup.procs", std::to_string(::getpid()) + "\n");
    node.write("cgroup/" + plugin + "/child-1/cgroup.procs", std::to_string(orphan.pid()) + "\n");
    node.write("cgroup/" + plugin + "/cgroup.procs", "");
  }
  bool kills() {
    end_orphans(*cgroup::Layout::detect(node.roots()));
    const auto status = orphan.wait(20s);
    return status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL;
  }
};

}  // namespace

TEST_CASE("orphans of an agent without a cgroup of its own for plugins are killed") {
  CHECK(Tree("system.slice/x.service", "koordetector-plugins/com.example.x").kills());
}

TEST_CASE("orphans below the cgroup of a systemd unit are killed by a program that runs in it") {
  CHECK(Tree("system.slice/x.service", "system.slice/x.service/koordetector-plugins/com.example.x").kills());
}

TEST_CASE("orphans below a delegated unit are killed by ExecStopPost, which runs in its cgroup .control") {
  CHECK(Tree("system.slice/x.service/.control", "system.slice/x.service/koordetector-plugins/com.example.x").kills());
}

TEST_CASE("orphans of an agent that moved itself aside are killed by the next one in its cgroup") {
  CHECK(Tree("pod/container/koordetector-agent", "pod/container/koordetector-plugins/com.example.x").kills());
}

TEST_CASE("processes below the cgroup of another unit are not killed") {
  Tree tree("system.slice/x.service", "system.slice/other.service/koordetector-plugins/com.example.x");
  end_orphans(*cgroup::Layout::detect(tree.node.roots()));
  CHECK(tree.orphan.running());
}
