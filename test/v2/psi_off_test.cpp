// SPDX-License-Identifier: Apache-2.0
// advisor-psi on a kernel that was booted with psi=0. Old kernels then have pressure files that cannot be read, new
// ones have no pressure files.
#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;

std::optional<std::string> why_not() {
  if (!koord::read_file("/proc/pressure/cpu")) return std::nullopt;
  return "pressure stall information is not switched off here";
}

TEST_CASE("without pressure stall information the advisor is absent, and the reason says how to switch it on") {
  FakeHost host{koord::NodeRoots()};
  FakeInstance advisor(host, shared_object());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("psi=1") != std::string::npos);
}
