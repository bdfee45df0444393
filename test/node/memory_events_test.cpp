// SPDX-License-Identifier: Apache-2.0
// advisor-memory-events on this machine's kernel: a process that exceeds its cgroup's limit is killed. This counts as
// one kill of this cgroup, even if the cgroup is removed before it is read.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "core/base/file.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;
using koord::service::CapabilityState;

namespace {

constexpr std::uint64_t kLimitBytes = 32u << 20;

// Returns after the kernel has killed a process that needed twice the limit.
void be_killed_in(const RealCgroup& cgroup) {
  ChildProcess greedy([&] {
    cgroup.add_process(::getpid());
    std::vector<char> memory(2 * kLimitBytes, 'x');
    for (char& byte : memory) asm volatile("" : : "r"(&byte) : "memory");
  });
  const std::optional<int> status = greedy.wait(std::chrono::seconds(60));
  REQUIRE(status);
  REQUIRE(WIFSIGNALED(*status));
  REQUIRE(WTERMSIG(*status) == SIGKILL);
}

std::vector<FakeHost::Report> events_of(RealAdvisor& advisor, const RealCgroup& cgroup) {
  std::vector<FakeHost::Report> found;
  for (const FakeHost::Report& event : advisor.host().events())
    if (event.why.find(cgroup.dir()) != std::string::npos) found.push_back(event);
  return found;
}

bool has_log(RealAdvisor& advisor) {
  return advisor.host().capabilities().find("oom_log")->state == CapabilityState::supported;
}

}  // namespace

std::optional<std::string> why_not() {
  const koord::cgroup::Layout layout = *koord::cgroup::Layout::detect(koord::NodeRoots());
  if (layout.version(koord::cgroup::Controller::memory)) return std::nullopt;
  return "there is no memory controller";
}

TEST_CASE("a process that needs more than the limit is one kill of its cgroup and none of its sibling") {
  RealCgroup greedy("greedy"), modest("modest");
  greedy.limit_memory(kLimitBytes);
  modest.limit_memory(kLimitBytes);
  RealAdvisor advisor({&greedy, &modest});
  advisor.tick();
  const double node_before = advisor.host().value("node_oom_kills_total").value_or(0);
  be_killed_in(greedy);
  advisor.tick();
  CHECK(advisor.value("container_oom_kills_total", greedy) == 1.0);
  CHECK(advisor.value("container_oom_kills_total", modest) == 0.0);
  CHECK(advisor.value("container_memory_limit_hits_total", greedy).value_or(0) > 0);
  CHECK(advisor.value("container_memory_limit_hits_total", modest) == 0.0);
  CHECK(advisor.host().value("node_oom_kills_total").value_or(0) >= node_before + 1);
}

TEST_CASE("the event names victim and limit, and is reported once") {
  RealCgroup greedy("reported");
  greedy.limit_memory(kLimitBytes);
  RealAdvisor advisor({&greedy});
  if (!has_log(advisor)) {
    MESSAGE("SKIPPED: the kernel's log cannot be read");
    return;
  }
  advisor.tick();
  be_killed_in(greedy);
  for (int i = 0; i < 3; ++i) advisor.tick();
  const std::vector<FakeHost::Report> events = events_of(advisor, greedy);
  REQUIRE(events.size() == 1);
  CHECK(events[0].what == "OOM kill");
  CHECK(events[0].why.find("of 32.0 MiB in use") != std::string::npos);
  CHECK(events[0].why.find("pid ") != std::string::npos);
}

TEST_CASE("a cgroup that was removed right after the kill keeps it") {
  RealCgroup greedy("gone");
  greedy.limit_memory(kLimitBytes);
  RealAdvisor advisor({&greedy});
  if (!has_log(advisor)) {
    MESSAGE("SKIPPED: the kernel's log cannot be read");
    return;
  }
  advisor.tick();
  be_killed_in(greedy);
  greedy.remove();
  for (int i = 0; i < 2; ++i) advisor.tick();
  CHECK(advisor.value("container_oom_kills_total", greedy) == 1.0);
}
