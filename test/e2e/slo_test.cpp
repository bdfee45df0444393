// SPDX-License-Identifier: Apache-2.0
// The effective NodeSLO through the whole agent, as koordctl slo shows it.
#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"

using namespace koord::test;

namespace {

constexpr const char* kPods = R"(
kind: PodList
items:
- metadata:
    {uid: u-1, name: web, namespace: shop, labels: {koordinator.sh/qosClass: LS},
     annotations: {koordinator.sh/memoryQOS: '{"policy": "auto", "lowLimitPercent": 30}'}}
  status: {phase: Running, qosClass: Burstable}
  spec: {containers: [{name: app}]}
)";

// An agent with a file of pods and a file of this NodeSLO.
struct Node {
  explicit Node(const std::string& spec) {
    write_slo(spec);
    REQUIRE(koord::write_file_atomically(folder / "pods.yaml", kPods));
    agent = std::make_unique<AgentProcess>("state: {source: file, file: {pods: " + folder / "pods.yaml" +
                                           ", nodeSLO: " + folder / "slo.yaml" + "}}");
    REQUIRE(agent->start());
  }
  void write_slo(const std::string& spec) {
    REQUIRE(
        koord::write_file_atomically(folder / "slo.yaml", "kind: NodeSLO\nmetadata: {name: n}\nspec: " + spec + "\n"));
  }
  std::string ctl(std::vector<std::string> arguments) const { return agent->ctl(std::move(arguments)).output; }

  TemporaryFolder folder;
  std::unique_ptr<AgentProcess> agent;
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("koordctl slo shows the effective values, their origins, and the rejected fields") {
  Node node(
      "{resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 130, memoryEvictThresholdPercent: 60}, "
      "systemStrategy: {minFreeKbytesFactor: 20000}}");
  const std::string shown = node.ctl({"slo"});
  INFO(shown);
  CHECK(has(shown, "resourceUsedThresholdWithBE.enable                               true                NodeSLO\n"));
  CHECK(has(shown, "resourceUsedThresholdWithBE.cpuSuppressThresholdPercent          65                  default\n"));
  CHECK(has(shown, "resourceUsedThresholdWithBE.cpuSuppressThresholdPercent  130    an integer from 0 to 100  -\n"));
  CHECK(has(shown, "systemStrategy.minFreeKbytesFactor                       20000  an integer from 1 to 500  -\n"));
  CHECK(has(node.agent->log(),
            "cpuSuppressThresholdPercent: found 130, expected an integer from 0 to 100; the default holds"));
}

TEST_CASE("an edit of the NodeSLO takes effect at once, and an invalid value is reported until it is corrected") {
  Node node("{cpuBurstStrategy: {policy: always}}");
  CHECK(has(node.agent->get("/api/v1/slo"), R"("policy":"none")"));
  node.write_slo("{cpuBurstStrategy: {policy: auto}}");
  CHECK(eventually([&] { return has(node.agent->get("/api/v1/slo"), R"("policy":"auto")"); }));
  CHECK(eventually([&] { return has(node.agent->log(), "NodeSLO: all values are taken again"); }));
  CHECK_FALSE(has(node.ctl({"slo"}), "REJECTED"));
}

TEST_CASE("koordctl slo --explain shows for a pod whether the default, the node or the annotation sets a value") {
  Node node("{resourceQOSStrategy: {lsClass: {memoryQOS: {enable: true, wmarkRatio: 80}}}}");
  const std::string shown = node.ctl({"slo", "--explain", "memoryQOS.lowLimitPercent", "--pod", "shop/web"});
  INFO(shown);
  CHECK(node.ctl({"slo", "--explain", "memoryQOS.lowLimitPercent", "--pod", "web"}) == shown);
  CHECK(has(shown, "resourceQOSStrategy.lsClass.memoryQOS.lowLimitPercent is 30\n"));
  CHECK(has(shown, "*  pod shop/web, koordinator.sh/memoryQOS  30\n"));
  CHECK(has(node.ctl({"slo", "--explain", "lsClass.memoryQOS.wmarkRatio"}), "*  NodeSLO           80\n"));
}

TEST_CASE("koordctl slo --explain names the nearest field, and reports a pod that is not on this node") {
  Node node("{}");
  CHECK(node.agent->ctl({"slo", "--explain", "wmarkRation"}).exit_status == 1);
  CHECK(has(node.ctl({"slo", "--explain", "wmarkRation"}),
            "a NodeSLO has no field 'wmarkRation'; the nearest is 'wmarkRatio'"));
  CHECK(has(node.ctl({"slo", "--explain", "wmarkRatio", "--pod", "shop/other"}),
            "no pod 'shop/other' on this node; expected NAMESPACE/NAME, NAME or uid"));
  CHECK(has(node.ctl({"slo", "--pod", "shop/web"}), "--pod needs --explain FIELD"));
}

TEST_CASE("without a NodeSLO koordctl slo says that it is unknown, and still explains the defaults") {
  AgentProcess agent("state: {source: cgroup}");
  REQUIRE(agent.start());
  CHECK(has(agent.ctl({"slo"}).output, "the NodeSLO of this node is not known yet"));
  CHECK(has(agent.ctl({"slo", "--explain", "cpuSuppressThresholdPercent"}).output,
            "cpuSuppressThresholdPercent is 65\n"));
}
