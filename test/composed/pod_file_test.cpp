// SPDX-License-Identifier: Apache-2.0
// The file of pods, written by careless programs, while hooks and a strategy enforce values of its pods. No value
// changes before the file is complete, /readyz names the file, and a complete file is read immediately.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/file.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr auto kLong = std::chrono::minutes(1);

Sessions::Given with_batch_limits() {
  return {.plugins = {"qos-cpu-burst", "hook-batch-resource"},
          .gates = "BatchResource=true",
          .node_slo = spec(kBurst),
          .batch_resources = "{requests: {kubernetes.io/batch-cpu: 500}, limits: {kubernetes.io/batch-cpu: 800, "
                             "kubernetes.io/batch-memory: 128Mi}}"};
}

// Burst sets the value of the service, and the hook sets the value of the batch pod.
void expect_values(Sessions& node) {
  expect_burst(node);
  const std::string limit = node.pods.is_v2() ? "memory.max" : "memory.limit_in_bytes";
  for (const RealCgroup* cgroup : {&node.pods.batch_pod, &node.pods.batch})
    node.expect(node.file(*cgroup, Controller::memory, limit), {"134217728"});
}

struct PodFile {
  Sessions node{with_batch_limits()};
  const std::string path = node.folder / "pods.yaml", whole = koord::read_file(path).value();

  PodFile() {
    expect_values(node);
    REQUIRE(node.start());
    REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  }

  // Returns the text until the middle of the second pod: valid YAML, a list with one and a half pods.
  std::string half() const { return whole.substr(0, whole.find("\n  spec:", whole.find("uid: service"))) + "\n"; }

  // Writes in place, as a shell's redirection does.
  void write(const std::string& text) const { std::ofstream(path) << text; }

  // Checks that all values are kept during three more rounds.
  void check_kept(const std::string& problem) {
    CAPTURE(problem);
    std::string ready;
    CHECK_MESSAGE(eventually(
                      [&] {
                        ready = node.agent->get("/readyz");
                        return ready.find("degraded, keeping the last state") != std::string::npos &&
                               ready.find("'" + path + "'") != std::string::npos &&
                               ready.find(problem) != std::string::npos;
                      },
                      kLong),
                  ready);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
    const std::string pods = node.agent->ctl({"pods"}).output;
    CHECK_MESSAGE(pods.find("batch") != std::string::npos, pods);
    CHECK_MESSAGE(pods.find("service") != std::string::npos, pods);
  }

  bool is_ready_again() const {
    return eventually([&] { return node.agent->get("/readyz").find("[+] state: ok") != std::string::npos; }, kLong);
  }

  // After its pod was removed, the batch container has its earlier value; the service keeps its new value.
  void check_taken() {
    write(whole.substr(0, whole.find("- metadata: {uid: batch")) +
          whole.substr(whole.find("- metadata: {uid: service")));
    const std::string limit =
        node.file(node.pods.batch, Controller::memory, node.pods.is_v2() ? "memory.max" : "memory.limit_in_bytes");
    CHECK(eventually([&] { return koord::read_file(limit).value_or("") != "134217728\n"; }, kLong));
    write(whole);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK(is_ready_again());
  }
};

}  // namespace

TEST_CASE_FIXTURE(PodFile, "a file of pods that is open for writing changes no value, and is read when it is closed") {
  std::ofstream writer(path);
  writer << half() << std::flush;
  check_kept("is open for writing");
  writer << whole.substr(half().size()) << std::flush;
  check_kept("is open for writing");
  writer.close();
  CHECK(is_ready_again());
  check_taken();
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

TEST_CASE_FIXTURE(PodFile, "a writer that ends in the middle changes no value, also if the agent is killed then") {
  struct Left {
    std::string text, problem;
  };
  for (const Left& left : {Left{"", "the document is empty"}, Left{"kind: PodList\nitems:\n", "items: expected a list"},
                           Left{whole + "- metadata: {uid: third, name: thi", ""},
                           Left{R"({"kind": "PodList", "items": [{"metadata": {"uid": "serv)", ""}}) {
    write(whole);
    CHECK(is_ready_again());
    write(left.text);
    check_kept(left.problem);
  }
  node.kill();
  write(whole);
  REQUIRE(node.start());
  CHECK_MESSAGE(node.settles(), node.unsettled());
  check_taken();
}

TEST_CASE_FIXTURE(PodFile, "an unreadable file of pods changes no value, and is read when it is readable again") {
  namespace fs = std::filesystem;
  fs::rename(path, path + ".aside");
  check_kept("No such file");
  fs::create_directory(path);
  check_kept("is not a regular file");
  fs::remove(path);
  fs::create_symlink(path, path);
  check_kept("Too many levels of symbolic links");
  fs::remove(path);
  write(std::string(17u << 20, '#'));
  check_kept("more than 16777216 bytes");
  fs::rename(path + ".aside", path);
  CHECK(is_ready_again());
  check_taken();
}
