// SPDX-License-Identifier: Apache-2.0
// Objects about interference in the cluster: rules reach the plugin that judges, and koordctl shows which rule is used
// and where it comes from.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "core/base/node_roots.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// Makes a tree with only the test's own cgroup, because other tests run at the same time.
std::string root_of(const RealCgroup& top, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string all = koord::NodeRoots().cgroup, root = folder + "/cgroup";
  if (fs::exists(all + "/" + top.dir())) return all + "/" + top.dir();
  fs::create_directory(root);
  for (const char* controller : {"cpu", "cpuacct", "cpuset", "memory", "blkio"}) {
    const std::string tree = all + "/" + controller + "/" + top.dir();
    if (fs::exists(tree)) fs::create_directory_symlink(tree, root + "/" + controller);
  }
  return root;
}

struct JudgingNode {
  void put(const std::string& spec) {
    cluster.put(R"({"apiVersion": "interference.koordinator.sh/v1alpha1", "kind": "InterferenceDetectionRule", )"
                R"("metadata": {"name": "strict"}, "spec": )" +
                spec + "}");
  }
  bool start() { return agent.start({"--feature-gates=InterferenceCollector=true", "--set", settings}); }
  std::string shown() const { return agent.ctl({"interference", "-o", "wide"}).output; }
  bool shows(const std::string& rule) const {
    const bool does = eventually([&] { return shown().find("Rule: " + rule + ".\n") != std::string::npos; }, 1min);
    CHECK_MESSAGE(does, shown() << agent.log());
    return does;
  }

  TemporaryFolder folder;
  RealCgroup top{"rules"};
  TestCluster cluster;
  const std::string settings = "plugins.settings={advisor-interference: {config: {rule: {clearAfter: 20s}}}}";
  AgentProcess agent{"roots: {cgroup: \"" + root_of(top, folder.path()) + "\"}\ncluster: {kubeconfig: \"" +
                         cluster.kubeconfig() + "\"}\nstate: {source: kubelet, kubelet: {caFile: \"" +
                         cluster.kubelet_ca() + "\"}}",
                     {built("plugins/advisor-interference")}};
};

}  // namespace

TEST_CASE_FIXTURE(JudgingNode,
                  "a rule of the cluster is in force while its object exists, over the node's configuration") {
  cluster.set_pods(
      R"([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "uid-web"}, )"
      R"("spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]}, )"
      R"("status": {"phase": "Running", "qosClass": "Burstable"}}])");
  REQUIRE(start());
  CHECK(shows("clearAfter 20s (configuration), all others built in"));
  put(R"({"rule": {"clearAfter": "30s", "blkio": {"excessMs": 1}}})");
  const std::string strict = "(InterferenceDetectionRule strict)";
  const std::string both = "clearAfter 30s " + strict + ", blkio.excessMs 1 " + strict + ", all others built in";
  CHECK(shows(both));

  put(R"({"rule": {"overQuiet": 0.5}})");
  const auto log_has = [&](std::string_view text) { return agent.log().find(text) != std::string::npos; };
  CHECK(eventually([&] {
    return log_has("InterferenceDetectionRule 'strict': spec.rule.overQuiet is 0.5, expected 1 to 100; keeping ");
  }));
  CHECK(agent.stop() == 0);
  cluster.fault("error", R"({"kind": "InterferenceDetectionRule", "code": 503})");
  REQUIRE(start());
  CHECK(shows(both));
  cluster.clear_faults();
  cluster.remove("InterferenceDetectionRule", "strict");
  CHECK(shows("clearAfter 20s (configuration), all others built in"));
  CHECK(agent.stop() == 0);
}
