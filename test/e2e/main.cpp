// SPDX-License-Identifier: Apache-2.0
// Runs the tests. On a machine where an agent cannot observe a real node, prints the reason and skips them.
#include <cstdio>

#include "test/support/real_cgroup.hpp"
#include "test/support/run_test_cases.hpp"

int main(int argc, char** argv) {
  if (auto reason = koord::test::RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: end-to-end tests need cgroups of their own: %s\n", reason->c_str());
    return koord::test::kSkip;
  }
  return koord::test::run_test_cases(argc, argv);
}
