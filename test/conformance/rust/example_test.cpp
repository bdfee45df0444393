// SPDX-License-Identifier: Apache-2.0
// Like third_party_test.cpp, for an author of Rust plugins.
#include <doctest/doctest.h>

#include "test/conformance/author.hpp"

using namespace koord::test;

TEST_CASE("the Rust example builds with an installed prefix and is a sound plugin") {
  const Author author("advisor-rust", "advisor.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the Rust example passes its own unit tests") {
  const Author author("advisor-rust", "advisor.so");
  const Finished checked = author.make("check");
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK(checked.output.find("4 passed") != std::string::npos);
  CHECK(checked.output.find("3 tests on the host, 0 checks failed") != std::string::npos);
}

TEST_CASE("the Rust example runs in the real host once its gate is on") {
  const Author author("advisor-rust", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {SoftirqsExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_example_softirqs_total", {"type=\"TIMER\""}).value_or(0) > 0;
  }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the Rust example does not build with panic=abort") {
  const Author author("advisor-rust", "advisor.so");
  const Finished made = author.make("RUSTFLAGS='-C panic=abort'");
  CHECK(made.exit_status != 0);
  CHECK(made.output.find("a plugin must be built with panic=unwind") != std::string::npos);
}
