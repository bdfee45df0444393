// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/pod_resource.hpp"

#include <doctest/doctest.h>

using namespace koord::pod_resource;

TEST_CASE("memory in use is inactive_anon, active_anon and unevictable, without page cache") {
  CHECK(memory_usage_bytes({4096, 8192, 4096}) == 16384.0);
  CHECK(memory_usage_bytes({0, 0, 0}) == 0.0);
}

TEST_CASE("memory is unknown, not zero, when the kernel does not tell a part") {
  CHECK_FALSE(memory_usage_bytes({4096, 8192, MemoryStat::kAbsent}));
}

TEST_CASE("nanoseconds of CPU per nanosecond of time are cores") {
  CpuMeter meter(20'000'000'000);
  CHECK_FALSE(meter.cores(5'000, 1'000'000'000));
  CHECK(meter.cores(500'005'000, 2'000'000'000) == doctest::Approx(0.5));
}

TEST_CASE("a container that was restarted in its cgroup gives no negative CPU") {
  CpuMeter meter(20'000'000'000);
  meter.cores(900, 1'000'000'000);
  CHECK_FALSE(meter.cores(100, 2'000'000'000));
}
