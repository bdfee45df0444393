// SPDX-License-Identifier: Apache-2.0
// Limits of a plugin's process, on this machine's kernel. Needs root.
#include "core/child/confinement.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/node_roots.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::child;
using namespace std::chrono_literals;
using cgroup::Controller;
using test::ChildProcess;

namespace {

struct Node {
  cgroup::Layout layout = *cgroup::Layout::detect(NodeRoots());
  std::string id = "koord-test-" + std::to_string(::getpid());
  std::string file(Controller controller, const std::string& name) {
    return layout.directory(controller, std::string(kPluginsCgroup) + "/" + id) + "/" + name;
  }
};

// A process that waits until it is told to go on.
class Waiting {
 public:
  explicit Waiting(const std::function<void()>& then) {
    REQUIRE(::pipe(ends_) == 0);
    process_ = std::make_unique<ChildProcess>([this, &then] {
      ::close(ends_[1]);
      char byte;
      if (::read(ends_[0], &byte, 1) == 0) then();
    });
    ::close(ends_[0]);
  }
  ChildProcess& process() { return *process_; }
  void go() { ::close(ends_[1]); }

 private:
  int ends_[2];
  std::unique_ptr<ChildProcess> process_;
};

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

TEST_CASE_FIXTURE(Node, "what a second start wants holds from then on") {
  Confinement first(layout, id, {.processes = 8});
  Confinement second(layout, id, {.processes = 16});
  CHECK(read_file(file(Controller::pids, "pids.max")).value_or("") == "16\n");
}

TEST_CASE_FIXTURE(Node, "the cgroup goes with the last child") {
  { Confinement confinement(layout, id, {.memory_bytes = 64 << 20, .cpu_millis = 500, .processes = 8}); }
  for (Controller controller : {Controller::memory, Controller::cpu, Controller::pids})
    CHECK_FALSE(std::filesystem::exists(file(controller, "cgroup.procs")));
}

TEST_CASE("a controller that the node does not have is told by name") {
  std::string empty = std::filesystem::temp_directory_path() / ("koord-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(empty + "/memory");
  auto layout = cgroup::Layout::detect({.cgroup = empty});
  REQUIRE(layout);
  Confinement confinement(*layout, "koord-test", {.memory_bytes = 1 << 20, .processes = 8});
  CHECK(confinement.problems().find("pids: this node has no such controller") != std::string::npos);
  std::filesystem::remove_all(empty);
}

int main(int argc, char** argv) {
  if (auto reason = test::RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: %s\n", reason->c_str());
    return test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
