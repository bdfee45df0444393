// SPDX-License-Identifier: Apache-2.0
// Like third_party_test.cpp, for an author of Go plugins.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/conformance/author.hpp"

using namespace koord::test;

namespace {

// Returns the command lines of this process' children, with words separated by blanks.
std::vector<std::string> children_of(pid_t parent) {
  std::vector<std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      std::ifstream file("/proc/" + std::to_string(child) + "/cmdline");
      std::string words{std::istreambuf_iterator<char>(file), {}};
      std::replace(words.begin(), words.end(), '\0', ' ');
      found.push_back(words);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("the Go example builds with an installed prefix, downloads nothing and is a sound plugin") {
  const Author author("advisor-go", "advisor.so");
  const Finished made = author.make();
  REQUIRE_MESSAGE(made.exit_status == 0, made.output);
  CHECK(made.output.find("warning") == std::string::npos);
  CHECK(complaints_about(author.plugin()) == "");
}

TEST_CASE("the Go example passes its own unit tests") {
  const Author author("advisor-go", "advisor.so");
  const Finished checked = author.make("check");
  CHECK_MESSAGE(checked.exit_status == 0, checked.output);
  CHECK(checked.output.find("--- PASS: TestARowHasAProtocolAndItsKeys") != std::string::npos);
  CHECK(checked.output.find("3 tests on the host, 0 checks failed") != std::string::npos);
}

TEST_CASE("the Go example runs in its own process once its gate is on") {
  const Author author("advisor-go", "advisor.so");
  REQUIRE(author.make().exit_status == 0);
  AgentProcess agent("featureGates: {SocketsExample: true}");
  author.install(agent);
  REQUIRE(agent.start());
  CHECK(eventually([&] {
    return find_metric(agent.metrics(), "koordetector_example_sockets", {"protocol=\"sockets\""}).value_or(0) > 0;
  }));
  const auto children = children_of(agent.process().pid());
  REQUIRE(children.size() == 1);
  CHECK(children[0].starts_with("koord-plugin-host com.example.sockets "));
  CHECK(agent.stop() == 0);
}
