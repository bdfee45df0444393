// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/wait_pairs.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::interference;
using analysis::CpuSubject;
using analysis::SuspectKind;

namespace {

constexpr analysis::Subject kCart = 1, kEtl = 2, kEnded = 3;

std::string name_of(analysis::Subject subject) { return subject == kEtl ? "batch/etl/main" : ""; }

std::vector<CpuSubject> one_window() {
  CpuSubject cart;
  cart.window.subject = kCart;
  cart.window.self = 0.002;
  cart.window.throttled = 0.005;
  cart.window.others = {{SuspectKind::container, kEtl, 0.038, 1.7},
                        {SuspectKind::kernel, 0, 0.004, 0},
                        {SuspectKind::outside, 0, 0.012, 0},
                        {SuspectKind::container, kEnded, 0.001, 0}};
  return {cart};
}

}  // namespace

TEST_CASE("the pairs of a window are its waits by culprit, the longest first, without zero waits") {
  CHECK(longest_pairs(one_window(), name_of, 100) ==
        std::vector<WaitPair>{{kCart, "container", "batch/etl/main", 0.038},
                              {kCart, "outside", "node, outside pods", 0.012},
                              {kCart, "throttled", "its own quota", 0.005},
                              {kCart, "kernel", "kernel threads", 0.004},
                              {kCart, "self", "its own threads", 0.002},
                              {kCart, "container", "a container that has ended", 0.001}});
}

TEST_CASE("the longest waits are kept when there are more pairs than allowed") {
  const std::vector<WaitPair> pairs = longest_pairs(one_window(), name_of, 2);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[1].kind == "outside");
}
