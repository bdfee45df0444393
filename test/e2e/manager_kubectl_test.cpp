// SPDX-License-Identifier: Apache-2.0
// The real kubectl with koord-manager's aggregated API, which has an aggregator in front of it. Skipped if kubectl is
// not installed; KOORD_KUBECTL sets a different path.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "test/e2e/manager_cluster.hpp"

using namespace koord;
using namespace koord::test;

namespace {

const std::string kName = "nodemetrics.metrics.koordetector.sh";

std::string kubectl() {
  const char* named = std::getenv("KOORD_KUBECTL");
  if (named != nullptr) return named;
  if (std::filesystem::exists("/usr/bin/kubectl")) return "/usr/bin/kubectl";
  std::puts("SKIPPED: kubectl is not installed");
  return {};
}

struct Kubectl : ManagerCluster {
  explicit Kubectl(std::string program)
      : ManagerCluster({"node-1"}), program_(std::move(program)), replica(start("a")) {
    REQUIRE(eventually([&] { return replica->leads(); }));
    wait_until_available();
    for (const std::string& node : nodes()) CHECK(report(node, 250).status == 201);
    REQUIRE(eventually([&] { return ask(*replica, {}, "/readyz").status == 200; }));
  }

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    std::vector<std::string> all = {"/usr/bin/env", "HOME=" + home.path(), "KUBECONFIG=" + cluster.kubeconfig(),
                                    program_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  std::string run(std::vector<std::string> arguments) const {
    const Finished finished = run_to_end(command(std::move(arguments)), std::chrono::minutes(2));
    CHECK_MESSAGE(finished.exit_status == 0, finished.output);
    return finished.output;
  }

  TemporaryFolder home;

 private:
  std::string program_;

 public:
  std::unique_ptr<Replica> replica;
};

}  // namespace

TEST_CASE("kubectl gets, selects, explains and watches NodeMetrics through the aggregator") {
  const std::string program = kubectl();
  if (program.empty()) return;
  Kubectl k(program);
  const std::string table = k.run({"get", kName});
  CHECK(contains(table, "node-1"));
  CHECK(contains(table, "250m"));
  CHECK(contains(k.run({"get", kName, "node-1", "-o", "yaml"}), "cpu: 250m"));
  const std::string selected = k.run({"get", kName, "--field-selector", "metadata.name=node-1"});
  CHECK(contains(selected, "node-1"));
  CHECK_FALSE(contains(selected, "test-node"));
  CHECK(contains(k.run({"get", "--raw", kNodeMetricPath + "/node-1"}), R"("cpu":"250m")"));
  CHECK(contains(
      k.run({"explain", "--api-version=metrics.koordetector.sh/v1alpha1", "nodemetrics.status.podsMetric.pressure"}),
      "schedulingDelaySeconds"));
  const std::string output = k.home / "watch";
  ChildProcess watch(k.command({"get", kName, "-w"}), output);
  REQUIRE(eventually([&] { return k.metric(*k.replica, "koord_manager_serve_watches") == 1; }));
  CHECK(k.report("node-1", 777).status == 200);
  CHECK(eventually([&] { return contains(read_file(output, 1 << 20).value_or(""), "777m"); }));
  watch.signal(SIGKILL);
  CHECK(eventually([&] { return k.metric(*k.replica, "koord_manager_serve_watches") == 0; }));
}

TEST_CASE("kubectl reads NodeMetrics again after a failover") {
  const std::string program = kubectl();
  if (program.empty()) return;
  Kubectl k(program);
  const auto next = k.start("b", true);
  REQUIRE(eventually([&] { return contains(next->log(), "serves /healthz"); }));
  k.replica->process().signal(SIGKILL);
  REQUIRE(eventually([&] { return next->leads(); }));
  const Reporter reporter(k);
  CHECK(eventually([&] {
    const Finished finished = run_to_end(k.command({"get", kName, "-o", "name"}), std::chrono::minutes(2));
    return finished.exit_status == 0 && contains(finished.output, "node-1") && contains(finished.output, "test-node");
  }));
}
