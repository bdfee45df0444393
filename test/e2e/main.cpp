// SPDX-License-Identifier: Apache-2.0
// Runs the tests, or skips them loudly where a real agent cannot observe a real node.
#include <doctest/doctest.h>

#include <cstdio>

#include "test/support/real_cgroup.hpp"

int main(int argc, char** argv) {
  if (auto reason = koord::test::RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: end-to-end tests need cgroups of their own: %s\n", reason->c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
