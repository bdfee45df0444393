// SPDX-License-Identifier: Apache-2.0
// Prediction in the whole agent: the model of a real pod is shown and is restored after SIGKILL.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// A pod of the test that uses half a CPU, and the lists with this pod and its node.
struct Node {
  // Cgroups of a nested cluster, or the rest of one. They have pods that are not this node's pods.
  RealCgroup nested{"a-nested"}, nested_kubepods{nested, "kubepods"}, nested_pod{nested_kubepods, "podother"};
  RealCgroup top{"kubelet"}, kubepods{top, "kubepods"}, pod{kubepods, "podu1"}, app{pod, "app"};
  ChildProcess burner;
  TemporaryFolder folder;

  Node()
      : burner([this] {
          pod.limit_cpu(0.5);
          app.add_process(::getpid());
          for (;;) asm volatile("");
        }) {
    REQUIRE(koord::write_file_atomically(folder / "pods.yaml", R"(
items:
- metadata: {uid: u1, name: web, namespace: shop, labels: {koordinator.sh/priority-class: koord-prod}}
  status:
    phase: Running
    qosClass: Guaranteed
    containerStatuses: [{name: app, containerID: "containerd://app", state: {running: {}}}]
  spec:
    containers:
    - {name: app, resources: {requests: {cpu: "2", memory: 2Gi}, limits: {cpu: "2", memory: 2Gi}}}
)"));
    REQUIRE(koord::write_file_atomically(folder / "node.yaml", R"(
metadata: {name: test-node}
status: {allocatable: {cpu: "64", memory: 64Gi}}
)"));
  }
  std::string config() const {
    return "state: {source: file, file: {pods: " + folder / "pods.yaml" + ", node: " + folder / "node.yaml" +
           "}}\npredict: {trainingPeriod: 10s, coldStart: 0s}\nexporter: {koordletNames: true}\n";
  }
};

std::vector<std::string> advisors() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource")};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns the time of a subject's first sample in Unix seconds; 0 if the model has no sample of it.
double known_since(const AgentProcess& agent, const std::string& subject) {
  const std::string text = agent.get("/api/v1/predictions"), words = "\"subject\":\"" + subject + "\",\"since\":";
  const std::size_t at = text.find(words);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

}  // namespace

TEST_CASE("the model of a pod is shown, could be lent, and is kept after SIGKILL") {
  Node node;
  AgentProcess agent(node.config(), advisors());
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return known_since(agent, "pod/u1") > 0 && known_since(agent, "system") > 0; }, 120s));
  CHECK(contains(agent.ctl({"node"}).output, "other trees hold pods, too, and are left out of account"));
  // The pod uses half a core of the two that it requests.
  CHECK(eventually(
      [&] {
        const auto lent = find_metric(agent.metrics(), "koordetector_predict_prod_reclaimable",
                                      {"predictor=\"pod\"", "resource=\"cpu\""});
        return lent && *lent > 1 && *lent < 2;
      },
      120s));
  CHECK(find_metric(agent.metrics(), "koordlet_node_predicted_resource_peak",
                    {"predictor=\"minPredictor\"", "resource=\"memory\""}));
  CHECK(find_metric(agent.metrics(), "koordlet_node_resource_priority_reclaimable_status") == 0);
  CHECK(find_metric(agent.metrics(), "koordetector_predict_checkpoint_ok") == 1);
  const std::string table = agent.ctl({"predict"}).output;
  for (const char* word : {"SUBJECT", "shop/web", "class/koord-prod", "system", "PREDICTOR", "minimum", "pods: 1"}) {
    CAPTURE(word);
    CHECK(contains(table, word));
  }
  CHECK(contains(agent.ctl({"predict", "-o", "json"}).output, "\"production\":"));

  const double before = known_since(agent, "pod/u1");
  agent.kill();
  REQUIRE(agent.start());
  // a model that was learnt again would be ten seconds younger
  CHECK(std::fabs(known_since(agent, "pod/u1") - before) < 1);
  CHECK(contains(agent.ctl({"predict"}).output, "shop/web"));
}

TEST_CASE("without a place for its files prediction learns in memory, and /readyz says why") {
  AgentProcess agent("predict: {trainingPeriod: 10s}", advisors());
  REQUIRE(agent.start({"--set", "predict.directory=" + agent.folder() / "not" + "/there"}));
  CHECK(eventually(
      [&] { return contains(agent.get("/readyz"), "[+] prediction: degraded, in memory only: cannot make '"); }, 120s));
  CHECK(known_since(agent, "node") > 0);
}

TEST_CASE("with prediction off no model is learnt, and koordctl says so") {
  AgentProcess agent("predict: {enabled: false}", advisors());
  REQUIRE(agent.start());
  CHECK(contains(agent.get("/readyz"), "[+] prediction: off"));
  CHECK(contains(agent.ctl({"predict"}).output, "prediction is switched off: predict.enabled is false"));
  CHECK_FALSE(contains(agent.metrics(), "koordetector_predict_"));
}
