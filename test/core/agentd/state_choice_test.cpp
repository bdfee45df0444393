// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/state_choice.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::agentd;
using config::StateSource;

namespace {

kube::ConnectionConfig server() {
  kube::ConnectionConfig config;
  config.host = "10.0.0.1";
  return config;
}
const Result<kube::ConnectionConfig> kFound = server();
const Result<kube::ConnectionConfig> kNotFound = not_found("no service account");

config::Config with(StateSource source, std::string pods_file = "", std::string kubeconfig = "") {
  config::Config config;
  config.state.source = source;
  config.state.file.pods = std::move(pods_file);
  config.cluster.kubeconfig = std::move(kubeconfig);
  return config;
}

state::Node node(std::vector<state::NodeAddress> addresses, std::int32_t port) {
  state::Node node;
  node.addresses = std::move(addresses);
  node.kubelet_port = port;
  return node;
}

}  // namespace

TEST_CASE("auto uses the cluster if one exists, otherwise the cgroup tree") {
  CHECK(choose_state(with(StateSource::automatic), kFound).pods == PodSource::kubelet);
  CHECK(choose_state(with(StateSource::automatic), kFound).cluster == server());
  const StateChoice alone = choose_state(with(StateSource::automatic), kNotFound);
  CHECK(alone.pods == PodSource::cgroup);
  CHECK_FALSE(alone.cluster);
}

TEST_CASE("auto uses a configured file of pods, even in a cluster") {
  const StateChoice choice = choose_state(with(StateSource::automatic, "/pods.yaml"), kFound);
  CHECK(choice.pods == PodSource::file);
  CHECK_FALSE(choice.cluster);
  CHECK(choice.no_cluster == "pods are learnt from a file");
}

TEST_CASE("auto with a kubeconfig uses its cluster, even while the file is invalid") {
  const StateChoice choice = choose_state(with(StateSource::automatic, "", "/kubeconfig"), kNotFound);
  CHECK(choice.pods == PodSource::kubelet);
  CHECK_FALSE(choice.cluster);
  CHECK(choice.no_cluster.starts_with("no service account"));
}

TEST_CASE("a configured source is used in any environment") {
  CHECK(choose_state(with(StateSource::kubelet), kNotFound).pods == PodSource::kubelet);
  CHECK(choose_state(with(StateSource::apiserver), kFound).pods == PodSource::apiserver);
  CHECK(choose_state(with(StateSource::file), kFound).pods == PodSource::file);
  CHECK(choose_state(with(StateSource::cgroup), kFound).pods == PodSource::cgroup);
  CHECK_FALSE(choose_state(with(StateSource::cgroup), kFound).cluster);
}

TEST_CASE("the kubelet's address is the configured one, else that of the Node, else that of the host") {
  const state::Node known = node({{"Hostname", "n1"}, {"InternalIP", "10.1.1.1"}, {"InternalIP", "fd00::1"}}, 10555);
  CHECK(kubelet_place({}, known, "10.2.2.2") == KubeletPlace{"10.1.1.1", 10555});
  CHECK(kubelet_place({.address = "127.0.0.1", .port = 1234}, known, nullptr) == KubeletPlace{"127.0.0.1", 1234});
  CHECK(kubelet_place({}, {}, "10.2.2.2") == KubeletPlace{"10.2.2.2", 10250});
  CHECK(kubelet_place({}, node({{"ExternalIP", "1.2.3.4"}}, 0), nullptr) == std::nullopt);
}

TEST_CASE("the period of a part is that of its source") {
  config::StateSettings settings;
  settings.kubelet.sync_period = std::chrono::minutes(5);
  settings.resync_period = std::chrono::seconds(3);
  CHECK(confirm_period(settings, PodSource::kubelet, state::kPods) == std::chrono::minutes(5));
  CHECK(confirm_period(settings, PodSource::apiserver, state::kPods) == std::chrono::minutes(1));
  CHECK(confirm_period(settings, PodSource::file, state::kPods) == std::chrono::seconds(3));
  CHECK(confirm_period(settings, PodSource::cgroup, state::kPods) == std::chrono::seconds(3));
  CHECK(confirm_period(settings, PodSource::kubelet, state::kTopology) == std::chrono::seconds(3));
  for (const state::Part part : {state::kNode, state::kNodeSlo})
    CHECK(confirm_period(settings, PodSource::kubelet, part) == std::chrono::minutes(1));
  settings.file.node = "node.json";
  settings.file.node_slo = "node-slo.json";
  for (const state::Part part : {state::kNode, state::kNodeSlo})
    CHECK(confirm_period(settings, PodSource::kubelet, part) == std::chrono::seconds(3));
}
