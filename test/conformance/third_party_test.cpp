// SPDX-License-Identifier: Apache-2.0
// What an author outside of this tree does: install, build an example with its own Makefile and pkg-config
// alone, put the .so into a plugin directory, switch its gate on.
#include <doctest/doctest.h>

#include "test/conformance/author.hpp"

using namespace koord::test;

TEST_CASE("the C example builds against an installed prefix and is a sound plugin") {
  const Author author("advisor-c", "advisor.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the C example passes its own tests") {
  const Author author("advisor-c", "advisor.so");
  const Finished checked = author.make("check");
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK(checked.output.find("3 tests, 0 checks failed") != std::string::npos);
}

TEST_CASE("the C++ example builds against an installed prefix and is a sound plugin") {
  const Author author("hello", "hello.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the C example runs in the real host once its gate is on") {
  const Author author("advisor-c", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {OpenFilesExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_example_open_files").value_or(0) > 0; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the C example does not run while its gate is off") {
  const Author author("advisor-c", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(agent.get("/api/v1/plugins").find("com.example.open-files") != std::string::npos);
  CHECK(agent.metrics().find("example_open_files") == std::string::npos);
}

TEST_CASE("the advisor in C++ builds, passes its own tests and is a sound plugin") {
  const Author author("advisor-cpp", "advisor.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
  const Finished checked = author.make("check");
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK(checked.output.find("5 tests, 0 checks failed") != std::string::npos);
}

TEST_CASE("the advisor in C++ runs in the real host once its gate is on") {
  const Author author("advisor-cpp", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {SchedulerExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_example_context_switches_total").value_or(0) > 0; }));
  CHECK(agent.stop() == 0);
}

TEST_CASE("the external advisor in C++ builds, passes its own tests and is a sound plugin") {
  const Author author("external-advisor-cpp", "external_advisor.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
  const Finished checked = author.make("check");
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK(checked.output.find("5 tests, 0 checks failed") != std::string::npos);
}

TEST_CASE("the external advisor in C++ brings in what another agent tells of itself") {
  const Author author("external-advisor-cpp", "external_advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess other;
  REQUIRE(other.start());
  AgentProcess agent("featureGates: {EndpointExample: true}");
  author.install(agent);
  const std::string settings = "plugins.settings.\"com.example.endpoint\".";
  REQUIRE(agent.start({"--set", settings + "period=1s", "--set",
                       settings + "config={url: \"unix:" + other.socket() + ":/metrics\", prefix: other_, allow: [\"koordetector_host_*\"]}"}));
  CHECK(eventually([&] { return agent.metrics().find("koordetector_other_koordetector_host_") != std::string::npos; }));
  CHECK(agent.metrics().find("koordetector_other_koordetector_store_") == std::string::npos);
  CHECK(agent.ctl({"plugins"}).output.find("com.example.endpoint") != std::string::npos);
  other.kill();
  CHECK(eventually([&] { return agent.ctl({"plugins"}).output.find("scrape failed: ") != std::string::npos; }));
  CHECK(agent.stop() == 0);
}
