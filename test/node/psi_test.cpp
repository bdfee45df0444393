// SPDX-License-Identifier: Apache-2.0
// advisor-psi on this machine's kernel: a cgroup with more busy threads than CPUs is stalled all the time, a sleeping
// cgroup is not stalled, and the plugin's values equal the values of the kernel's files.
#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/file.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

std::string cpu_pressure(const RealCgroup& cgroup) { return cgroup.path(Controller::core) + "/cpu.pressure"; }

// Returns for how long at least one thread was stalled, from the kernel's file.
double stalled_seconds(const RealCgroup& cgroup) {
  const std::string text = koord::read_file(cpu_pressure(cgroup)).value_or("");
  const std::size_t at = text.find("total=");
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + 6, nullptr) / 1e6;
}

void burn_on_first_cpu() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  // This is repeated, because before Linux 6.2 a move to a different cpuset (on v2: to any cgroup) resets the affinity.
  for (;;) {
    ::sched_setaffinity(0, sizeof first, &first);
    for (int i = 0; i < 10'000'000; ++i) asm volatile("");
  }
}

const koord::metric::Labels kSomeCpu = {{"psi_resource", "cpu"}, {"psi_degree", "some"}};

struct PsiFixture {
  PsiFixture() {
    squeezed.add_process(first.pid());
    squeezed.add_process(second.pid());
    idle.add_process(sleeper.pid());
    stall(0.5);
  }
  // Returns after the squeezed cgroup was stalled for this time.
  void stall(double seconds) const {
    const double before = stalled_seconds(squeezed);
    REQUIRE(eventually([&] { return stalled_seconds(squeezed) > before + seconds; }));
  }
  RealCgroup squeezed{"squeezed"}, idle{"idle"};
  ChildProcess first{burn_on_first_cpu}, second{burn_on_first_cpu}, sleeper{[] { ::pause(); }};
};

}  // namespace

std::optional<std::string> why_not() {
  if (::access(cpu_pressure(RealCgroup("probe")).c_str(), R_OK) == 0) return std::nullopt;
  return "cgroups have no pressure files here";
}

TEST_CASE("two busy threads on one CPU are stalled nearly all the time, and the total is the kernel's") {
  PsiFixture fixture;
  RealAdvisor advisor({&fixture.squeezed, &fixture.idle}, R"({"ratio": "container"})");
  advisor.tick();
  fixture.stall(3);
  const double lower = stalled_seconds(fixture.squeezed);
  advisor.tick();
  const double upper = stalled_seconds(fixture.squeezed);
  const double reported =
      advisor.value("container_pressure_stalled_seconds_total", fixture.squeezed, kSomeCpu).value_or(-1);
  CHECK(reported >= lower - 1e-6);
  CHECK(reported <= upper + 1e-6);
  CHECK(advisor.value("container_psi_stalled_ratio", fixture.squeezed, kSomeCpu).value_or(-1) > 0.8);
  CHECK(advisor.value("container_psi", fixture.squeezed, kSomeCpu).value_or(-1) > 5);
}

TEST_CASE("a cgroup that sleeps beside one that is squeezed is not stalled") {
  PsiFixture fixture;
  RealAdvisor advisor({&fixture.squeezed, &fixture.idle}, R"({"ratio": "container"})");
  advisor.tick();
  const double before = stalled_seconds(fixture.idle);
  fixture.stall(1);
  advisor.tick();
  const double after = stalled_seconds(fixture.idle);
  CHECK(after - before < 0.1);
  const auto ratio = advisor.value("container_psi_stalled_ratio", fixture.idle, kSomeCpu);
  const auto total = advisor.value("container_pressure_stalled_seconds_total", fixture.idle, kSomeCpu);
  REQUIRE((ratio && total));
  CHECK(*ratio < 0.1);
  CHECK(*total >= before - 1e-6);
  CHECK(*total <= after + 1e-6);
}
