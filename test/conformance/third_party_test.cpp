// SPDX-License-Identifier: Apache-2.0
// What an author outside of this tree does: install, build an example with its own Makefile and pkg-config
// alone, put the .so into a plugin directory, switch its gate on.
#include <doctest/doctest.h>

#include "test/conformance/author.hpp"

using namespace koord::test;

TEST_CASE("the C example builds against an installed prefix and is a sound plugin") {
  const Author author("hello-c", "hello.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the C++ example builds against an installed prefix and is a sound plugin") {
  const Author author("hello", "hello.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the C example runs in the real host once its gate is on") {
  const Author author("hello-c", "hello.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {HelloExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_example_open_files").value_or(0) > 0; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the C example does not run while its gate is off") {
  const Author author("hello-c", "hello.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(agent.get("/api/v1/plugins").find("com.example.hello") != std::string::npos);
  CHECK(agent.metrics().find("example_open_files") == std::string::npos);
}
