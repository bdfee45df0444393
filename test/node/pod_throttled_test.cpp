// SPDX-License-Identifier: Apache-2.0
// advisor-pod-throttled on this machine's kernel: its values are the changes of the kernel's counters between two
// ticks.
#include <doctest/doctest.h>

#include <cmath>

#include "test/node/kernel_counters.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;

std::optional<std::string> why_not() {
  RealCgroup probe("probe");
  probe.limit_cpu(0.1);
  Burner burner(probe);
  if (eventually([&] { return throttling(probe).periods > 0; })) return std::nullopt;
  return "this kernel has no CPU quotas";
}

TEST_CASE("a busy cgroup with a tenth of a CPU is throttled most of the time, as the kernel says") {
  RealCgroup limited("limited");
  limited.limit_cpu(0.1);
  Burner burner(limited);
  RealAdvisor advisor({&limited});
  const auto pass = [&](double periods) {
    const double before = throttling(limited).periods;
    REQUIRE(eventually([&] { return throttling(limited).periods >= before + periods; }, std::chrono::seconds(60)));
  };
  pass(2);
  const Throttling before_first = throttling(limited);
  advisor.tick();
  const Throttling after_first = throttling(limited);
  pass(30);
  const Throttling before_second = throttling(limited);
  advisor.tick();
  const Throttling after_second = throttling(limited);

  const double ratio = advisor.value("container_cpu_throttled", limited).value_or(-1);
  CHECK(ratio >=
        (before_second.throttled - after_first.throttled) / (after_second.periods - before_first.periods) - 1e-3);
  CHECK(
      ratio <=
      std::fmin((after_second.throttled - before_first.throttled) / (before_second.periods - after_first.periods), 1) +
          1e-3);
  CHECK(ratio > 0.5);
  const double seconds = advisor.value("container_cpu_throttled_seconds_total", limited).value_or(-1);
  CHECK(seconds >= before_second.seconds - 1e-3);
  CHECK(seconds <= after_second.seconds + 1e-3);
}

TEST_CASE("a busy cgroup without a quota beside one that is throttled is not, and has no throttled time") {
  RealCgroup limited("limited"), free("free");
  limited.limit_cpu(0.1);
  Burner squeezed(limited), busy(free);
  RealAdvisor advisor({&limited, &free});
  advisor.tick();
  const double before = throttling(limited).throttled;
  REQUIRE(eventually([&] { return throttling(limited).throttled >= before + 3; }, std::chrono::seconds(60)));
  advisor.tick();
  CHECK(advisor.value("container_cpu_throttled", free) == 0.0);
  CHECK_FALSE(advisor.value("container_cpu_throttled_seconds_total", free));
}
