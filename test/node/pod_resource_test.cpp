// SPDX-License-Identifier: Apache-2.0
// advisor-pod-resource on this machine's kernel: memory that a process has touched, CPU time of the kernel's own
// counter, and their sums in the parent cgroup.
#include <doctest/doctest.h>

#include "test/node/kernel_counters.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;

namespace {

constexpr double kMiB = 1 << 20;

// Returns whether the value reaches this range. The kernel moves pages to its lists in batches.
bool settles(RealAdvisor& advisor, const char* metric, const RealCgroup& cgroup, double low, double high) {
  double last = -1;
  const bool settled = eventually([&] {
    advisor.tick();
    last = advisor.value(metric, cgroup).value_or(-1);
    return last >= low && last <= high;
  });
  INFO(metric, " of ", cgroup.dir(), ": ", last);
  CHECK(settled);
  return settled;
}

}  // namespace

std::optional<std::string> why_not() {
  const koord::cgroup::Layout layout = *koord::cgroup::Layout::detect(koord::NodeRoots());
  if (layout.version(koord::cgroup::Controller::memory)) return std::nullopt;
  return "there is no memory controller";
}

TEST_CASE("64 MiB that a process has touched are counted for its cgroup and the parent, but not for its neighbour") {
  RealCgroup pod("pod");
  RealCgroup busy(pod, "busy"), idle(pod, "idle");
  Inhabitant holder(busy, [] { hold_memory(64u << 20); });
  RealAdvisor advisor({&pod, &busy, &idle});
  settles(advisor, "container_memory_usage", busy, 64 * kMiB * 0.97, 64 * kMiB * 1.1);
  settles(advisor, "container_memory_usage", pod, 64 * kMiB * 0.97, 64 * kMiB * 1.1);
  settles(advisor, "container_memory_usage", idle, 0, kMiB);
  settles(advisor, "container_memory_current_bytes", busy, 64 * kMiB, 64 * kMiB * 1.3);
}

TEST_CASE("CPU usage is the increase of the kernel's own counter between the ticks") {
  RealCgroup busy("busy");
  Burner burner(busy);
  RealAdvisor advisor({&busy});
  const Moment before_first = read_moment(busy);
  advisor.tick();
  const Moment after_first = read_moment(busy);
  REQUIRE(eventually([&] { return cpu_seconds(busy) >= after_first.cpu + 1; }, std::chrono::seconds(60)));
  const Moment before_second = read_moment(busy);
  advisor.tick();
  const Moment after_second = read_moment(busy);
  const double cores = advisor.value("container_cpu_usage", busy).value_or(-1);
  CHECK(cores >= (before_second.cpu - after_first.cpu) / (after_second.wall - before_first.wall) - 1e-3);
  CHECK(cores <= (after_second.cpu - before_first.cpu) / (before_second.wall - after_first.wall) + 1e-3);
  CHECK(cores > 0);
}
