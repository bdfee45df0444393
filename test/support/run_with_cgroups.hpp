// SPDX-License-Identifier: Apache-2.0
// The main function of tests that make cgroups.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

#include "test/support/real_cgroup.hpp"

namespace koord::test {

// Runs all test cases. If no cgroup can be made, prints the reason and returns kSkip.
inline int run_with_cgroups(int argc, char** argv) {
  if (const auto reason = RealCgroup::unavailable()) {
    std::printf("SKIPPED: no cgroups can be made here: %s\n", reason->c_str());
    return kSkip;
  }
  return doctest::Context(argc, argv).run();
}

}  // namespace koord::test
