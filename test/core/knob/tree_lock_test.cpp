// SPDX-License-Identifier: Apache-2.0
#include "core/knob/tree_lock.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "test/core/knob/journal_fixture.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::test;

namespace {

// Two agents with separate folders on one cgroup tree.
struct TwoAgents : JournalFixture {
  const std::string tree = place / "cgroup", other_directory = place / "other";

  TwoAgents() { std::filesystem::create_directory(tree); }
  std::unique_ptr<Journal> on_tree(const std::string& folder) const {
    auto one = std::make_unique<Journal>(Journal::Options{folder, "this boot", {tree}}, clock);
    static_cast<void>(one->open());
    return one;
  }
  std::string refusal() const {
    return "another agent writes to the cgroup tree '" + tree + "': process " + std::to_string(::getpid());
  }
};

}  // namespace

TEST_CASE_FIXTURE(TwoAgents,
                  "the second of two agents on one cgroup tree may not write, and names pid and folder of the first") {
  auto first = on_tree(directory);
  REQUIRE(first->prepare());
  const auto second = on_tree(other_directory);
  const Result<void> prepared = second->prepare();
  REQUIRE_FALSE(prepared);
  CHECK_MESSAGE(contains(prepared.error().message(), refusal()), prepared.error().message());
  CHECK_MESSAGE(contains(prepared.error().message(),
                         " with qos.directory '" + directory + "'; stop it, or set its qos.mode to shadow"),
                prepared.error().message());
  CHECK_FALSE(keep(*second, {quota("be")}));
  CHECK(contains(second->problem(), refusal()));
  first.reset();
  CHECK(keep(*second, {quota("be")}));
  CHECK(second->problem() == "");
}

TEST_CASE_FIXTURE(TwoAgents, "the knobs of a crashed agent are not reverted while another agent writes to the tree") {
  keep({quota("be")});
  auto first = on_tree(other_directory);
  REQUIRE(first->prepare());
  Journal second({directory, "this boot", {tree}}, clock);
  const Result<Journal::Found> refused = second.open();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message(), refusal()));
  first.reset();
  CHECK(found(second).left == std::vector{quota("be")});
}

TEST_CASE_FIXTURE(TwoAgents,
                  "an agent that may no longer write and has no value in the tree releases it for another agent") {
  const auto first = on_tree(directory), second = on_tree(other_directory);
  REQUIRE(keep(*first, {quota("be")}));
  first->release_tree();
  CHECK_FALSE(second->prepare());
  first->forgotten(quota("be").key);
  first->release_tree();
  CHECK(second->prepare());
  CHECK_FALSE(keep(*first, {quota("be")}));
}

TEST_CASE_FIXTURE(TwoAgents, "SIGKILL of an agent frees its cgroup tree") {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    TreeLock lock({tree});
    const char done = lock.lock() ? 'y' : 'n';
    if (::write(ready[1], &done, 1) == 1) ::pause();
    ::_exit(1);
  }
  char done = 'n';
  REQUIRE(::read(ready[0], &done, 1) == 1);
  CHECK(done == 'y');
  TreeLock lock({tree});
  const Result<void> refused = lock.lock();
  ::kill(holder, SIGKILL);
  REQUIRE(::waitpid(holder, nullptr, 0) == holder);
  REQUIRE_FALSE(refused);
  CHECK_MESSAGE(contains(refused.error().message(), "process " + std::to_string(holder) + " ("),
                refused.error().message());
  CHECK(contains(refused.error().message(), " with unknown qos.directory;"));
  CHECK(lock.lock());
  ::close(ready[0]), ::close(ready[1]);
}

TEST_CASE_FIXTURE(TwoAgents, "a hierarchy that has two names is locked once") {
  const std::string link = place / "cpuacct";
  std::filesystem::create_directory_symlink(tree, link);
  TreeLock both({tree, link}), other({link});
  CHECK(both.lock());
  CHECK(both.lock());
  CHECK_FALSE(other.lock());
  both.unlock();
  CHECK(other.lock());
}
