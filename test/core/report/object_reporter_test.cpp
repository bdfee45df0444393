// SPDX-License-Identifier: Apache-2.0
#include "core/report/object_reporter.hpp"

#include <filesystem>
#include <fstream>

#include "core/report/object_sources.hpp"
#include "test/core/report/node_fixture.hpp"
#include "test/core/report/reporting_node.hpp"
#include "test/core/store/temporary_directory.hpp"

using namespace koord;
using namespace koord::test;
namespace json = boost::json;

namespace {

struct Objects : ReportingNode {
  TemporaryDirectory kubelet;
  NodeOfTwoSockets node;
  std::map<std::string, std::string> facts;
  std::unique_ptr<TopologySource> topology;
  std::unique_ptr<ObjectReporter> reporter;

  Objects() {
    node.state.node.name = "test-node";
    publish();
  }
  void publish() {
    hub.publish({.node = node.state.node,
                 .pods = node.state.pods,
                 .topology = node.state.topology,
                 .kubelet = node.state.kubelet});
    hub.confirm(state::kPods, clock.now());
  }
  Facts fact() {
    return [this](const std::string& plugin, const std::string& name) -> std::optional<std::string> {
      auto found = facts.find(plugin + "/" + name);
      return found == facts.end() ? std::nullopt : std::optional(found->second);
    };
  }
  void start(ObjectReporter::Object object, kube::Client* to) {
    kind = object.kind;
    hear(kind.c_str());
    reporter = std::make_unique<ObjectReporter>(ObjectReporter::Parts{loop, workers, hub, clock, to}, std::move(object),
                                                "test-node");
    reporter->poll();
    settle(*reporter);
  }
  void start_topology(kube::Client* to) {
    NodeRoots roots;
    roots.kubelet = kubelet.path();
    reporter.reset();
    topology = std::make_unique<TopologySource>(hub, clock, roots, fact(), PodTolerance());
    start(topology->object(), to);
  }
  void pass(Duration time) {
    for (Duration passed = 0s; passed < time; passed += 10s) {
      clock.advance(10s);
      hub.confirm(state::kPods, clock.now());
      reporter->poll();
      settle(*reporter);
      hear(kind.c_str());
    }
  }
  std::string shared_pools() {
    return std::string(object("NodeResourceTopology")
                           .at_pointer("/metadata/annotations")
                           .as_object()
                           .at(kSharedPoolsAnnotation)
                           .as_string());
  }

  std::string kind;
};

}  // namespace

TEST_CASE_FIXTURE(Objects, "a NodeResourceTopology is created, follows the node, and is otherwise left alone") {
  start_topology(&client);
  pass(30s);
  CHECK(object("NodeResourceTopology").at_pointer("/zones").as_array().size() == 2);
  CHECK(shared_pools() == R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
  const std::size_t created = writes("NodeResourceTopology").size();
  pass(10min);
  CHECK(writes("NodeResourceTopology").size() == created);

  node.pod("u1", state::KoordQos::lsr, "0-1");
  publish();
  pass(20s);
  CHECK(shared_pools() == R"([{"socket":0,"node":0,"cpuset":"2-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
}

TEST_CASE_FIXTURE(Objects, "a restart without a change does not write the NodeResourceTopology") {
  start_topology(&client);
  pass(30s);
  const std::size_t created = writes("NodeResourceTopology").size();
  start_topology(&client);
  pass(2min);
  CHECK(writes("NodeResourceTopology").size() == created);
  CHECK(reporter->view().account.accepted);
}

TEST_CASE_FIXTURE(Objects, "the kubelet's static CPUs come from its file, and without it the pools are left out") {
  node.state.kubelet->cpu_manager_policy = "static";
  publish();
  start_topology(nullptr);
  CHECK(reporter->view().problem.find("cpu_manager_state") != std::string::npos);
  CHECK_FALSE(topology->pools());

  std::ofstream(kubelet / "cpu_manager_state")
      << R"({"policyName":"static","defaultCpuSet":"0-5","entries":{"u1":{"app":"6-7"}},"checksum":1})";
  reporter->poll();
  settle(*reporter);
  CHECK(reporter->view().problem.empty());
  CHECK(topology->pools()->shared.list() == "0-5");
  CHECK(reporter->view().wanted->find("0-3") != std::string::npos);
}

TEST_CASE_FIXTURE(Objects, "unconfirmed pods leave the NodeResourceTopology as it is") {
  start_topology(nullptr);
  CHECK(reporter->view().problem.empty());
  clock.advance(3min);
  reporter->poll();
  settle(*reporter);
  CHECK(reporter->view().problem.starts_with("the pods of this node were not confirmed lately"));
}

TEST_CASE_FIXTURE(Objects, "a Device is created from the advisors' facts, and follows them") {
  start(device_object(clock, fact()), &client);
  pass(1min);
  CHECK(writes("Device").empty());
  CHECK(reporter->view().problem.starts_with("neither advisor-gpu nor advisor-rdma has reported devices"));

  facts["advisor-gpu/GPU"] =
      R"([{"id":"GPU-a","minor":0,"memory-total":17179869184,"nodeID":0,"pcie":"pci0000:3a","busID":"0000:3b:00.0","status":{"healthy":true}}])";
  pass(30s);
  CHECK(object("Device").at_pointer("/spec/devices/0/resources/koordinator.sh~1gpu-memory") == "16Gi");
  CHECK(gpu_health(fact()) == std::map<std::string, bool, std::less<>>{{"GPU-a", true}});

  facts["advisor-gpu/GPU"] =
      R"([{"id":"GPU-a","minor":0,"memory-total":17179869184,"status":{"healthy":false,"errCode":"15","errMessage":"lost"}}])";
  pass(20s);
  CHECK(object("Device").at_pointer("/spec/devices/0/health") == false);
}

namespace {

constexpr const char* kLostGpu =
    R"([{"id":"GPU-a","minor":0,"memory-total":1073741824,"status":{"healthy":false,"errCode":"15","errMessage":"lost"}},)"
    R"({"id":"GPU-b","minor":1,"memory-total":1073741824,"status":{"healthy":true}}])";

}  // namespace

TEST_CASE_FIXTURE(Objects,
                  "a GPU that is lost is reported unhealthy to an API server that takes only words as reasons") {
  facts["advisor-gpu/GPU"] = kLostGpu;
  start(device_object(clock, fact()), &client);
  pass(1min);
  CHECK(object("Device").at_pointer("/spec/devices/0/health") == false);
  CHECK(object("Device").at_pointer("/spec/devices/0/conditions/0/reason") == "NVMLError15");
  CHECK(reporter->view().account.problem.empty());
  CHECK(reporter->view().account.left_out.empty());
}

TEST_CASE_FIXTURE(Objects,
                  "a part that the API server refuses is left out and reported, and the rest is written once") {
  cluster.fault("refuse", R"({"kind":"Device","fields":["spec.devices[].conditions[].message"]})");
  facts["advisor-gpu/GPU"] = kLostGpu;
  start(device_object(clock, fact()), &client);
  pass(1min);
  CHECK(object("Device").at_pointer("/spec/devices/0/health") == false);
  CHECK(object("Device").at_pointer("/spec/devices/1/id") == "GPU-b");
  CHECK(reporter->view().account.left_out == std::vector<std::string>{"spec.devices[0].conditions[0]"});
  CHECK(reporter->view().account.left_out_why.find("refused on purpose") != std::string::npos);
  CHECK(reporter->view().account.outcomes[Outcome::reduced] == 1);
  const std::size_t asked = writes("Device").size();
  pass(10min);
  CHECK(writes("Device").size() == asked);

  cluster.clear_faults();
  facts["advisor-gpu/GPU"] = R"([{"id":"GPU-b","minor":1,"memory-total":1073741824,"status":{"healthy":true}}])";
  pass(1min);
  CHECK(object("Device").at_pointer("/spec/devices").as_array().size() == 1);
  CHECK(reporter->view().account.left_out.empty());
}

TEST_CASE_FIXTURE(Objects,
                  "an object that is refused for a required part is retried at increasing intervals, not in a loop") {
  cluster.fault("refuse", R"({"kind":"Device","fields":["metadata.name"]})");
  facts["advisor-gpu/GPU"] = kLostGpu;
  start(device_object(clock, fact()), &client);
  pass(10min);
  CHECK(reporter->view().account.problem.find("refused on purpose") != std::string::npos);
  CHECK(reporter->view().account.outcomes[Outcome::refused] > 5);
  CHECK(writes("Device").size() <= 30);
}
