// SPDX-License-Identifier: Apache-2.0
// Children of a plugin that start and end at the same time as other children and other agents. Needs root.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/child/confinement.hpp"
#include "core/child/orphans.hpp"
#include "test/core/child/confinement_node.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::child;
using namespace std::chrono_literals;
using cgroup::Controller;
using test::ChildProcess;

namespace {

// A separate tree of cgroups, because the machine's tree has cgroups of other tests' agents.
class OwnTree {
 public:
  explicit OwnTree(const cgroup::Layout& machine) {
    std::filesystem::create_directories(folder_);
    if (machine.hierarchy() == cgroup::Hierarchy::v2) {
      for (const char* controller : {"+memory", "+cpu", "+pids"})
        REQUIRE(write_value(machine.unified_directory("") + "/cgroup.subtree_control", controller));
      return;
    }
    pids_ = top_.path(Controller::pids);
    std::filesystem::create_directory(pids_);
    for (const Controller controller : {Controller::memory, Controller::cpu, Controller::pids})
      std::filesystem::create_directory_symlink(top_.path(controller),
                                                folder_ + "/" + std::string(name_of(controller)));
  }
  ~OwnTree() {
    std::filesystem::remove_all(folder_);
    if (!pids_.empty()) ::rmdir(pids_.c_str());
  }
  OwnTree(const OwnTree&) = delete;
  OwnTree& operator=(const OwnTree&) = delete;

  cgroup::Layout layout() const {
    return *cgroup::Layout::detect({.cgroup = pids_.empty() ? top_.path(Controller::cpu) : folder_});
  }

 private:
  test::RealCgroup top_{"tree"};
  std::string folder_ = std::filesystem::temp_directory_path() / ("koord-test-" + std::to_string(::getpid()));
  std::string pids_;  // the directory of v1
};

// Does the same as agents that start in the meantime, until it is killed.
void sweep_for_ever(const cgroup::Layout& layout) {
  for (;;) end_orphans(layout);
}

// Puts a process into a new confinement of the plugin. Returns the problem; empty if all limits are set.
std::string confine_one(Node& node) {
  Waiting member([] {});  // forked before the locks are taken, because it would inherit them
  Confinement confinement(node.layout, node.id, {.memory_bytes = 64 << 20, .cpu_millis = 500, .processes = 64});
  confinement.add(member.process().pid());
  if (!confinement.problems().empty()) return confinement.problems();
  for (const Controller controller : {Controller::memory, Controller::cpu})
    if (!node.is_member(controller, member.process().pid()))
      return "not in '" + node.file(controller, "cgroup.procs") + "'";
  return "";
}

std::string confine_many(Node& node, int times) {
  for (int i = 0; i < times; ++i)
    if (std::string wrong = confine_one(node); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

TEST_CASE_FIXTURE(Node, "children that start while others of the plugin end and other agents start are confined") {
  constexpr int kTimes = 30;
  const OwnTree tree(layout);
  layout = tree.layout();
  ChildProcess sweeping([this] { sweep_for_ever(layout); });
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 3; ++i)
    children.push_back(std::make_unique<ChildProcess>([this] {
      if (const std::string wrong = confine_many(*this, kTimes); !wrong.empty()) {
        std::fprintf(stderr, "%s\n", wrong.c_str());
        ::_exit(1);
      }
    }));
  for (const auto& child : children) CHECK(child->wait(100s) == 0);
}
