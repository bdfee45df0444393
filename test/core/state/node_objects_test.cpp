// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/state/objects.hpp"

using namespace koord;
using namespace koord::state;

TEST_CASE("a node has its amounts in the units of resources") {
  Node node = *parse_node(
      "kind: Node\nmetadata: {name: n1, uid: 7f-1, labels: {a: b}, annotations: {c: d}}\n"
      "status: {capacity: {cpu: 8, memory: 32Gi, pods: '110'}, allocatable: {cpu: 7900m, memory: 32653456Ki}}");
  CHECK(node.name == "n1");
  CHECK(node.uid == "7f-1");
  CHECK(node.labels.at("a") == "b");
  CHECK(node.annotations.at("c") == "d");
  CHECK(node.capacity.at("cpu") == 8000);
  CHECK(node.capacity.at("memory") == 34359738368);
  CHECK(node.capacity.at("pods") == 110);
  CHECK(node.allocatable.at("cpu") == 7900);
  CHECK(node.allocatable.at("memory") == 33437138944);
  CHECK_FALSE(parse_node("kind: Node\nmetadata: {}"));
}

TEST_CASE("a node says where its kubelet listens") {
  Node node = *parse_node(
      "metadata: {name: n1}\nstatus: {addresses: [{type: InternalIP, address: 10.0.0.7}, {type: Hostname, address: n1}],"
      " daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}");
  REQUIRE(node.addresses.size() == 2);
  CHECK(node.addresses[0] == NodeAddress{"InternalIP", "10.0.0.7"});
  CHECK(node.kubelet_port == 10250);
  CHECK(parse_node("metadata: {name: n1}")->kubelet_port == 0);
  CHECK(parse_node("metadata: {name: a}\nstatus: {daemonEndpoints: {kubeletEndpoint: {Port: 70000}}}")
            .error()
            .message() == "status.daemonEndpoints.kubeletEndpoint.Port: '70000' is not a port");
}

TEST_CASE("CPUs, cgroups and reservations of a kubelet's configuration are taken") {
  KubeletConfig config = *parse_kubelet_config(R"({"kubeletconfig": {"cgroupDriver": "systemd", "cgroupRoot": "/",
    "cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "cpuCFSQuota": false, "cpuCFSQuotaPeriod": "50ms", "topologyManagerPolicy": "best-effort", "topologyManagerScope": "container", "reservedSystemCPUs": "0-1",
    "systemReserved": {"cpu": "500m", "memory": "1Gi"}, "kubeReserved": {"cpu": "1"}, "logging": {"format": 5}}})");
  CHECK(config.cgroup_driver == "systemd");
  CHECK(config.cgroup_root == "/");
  CHECK(config.cpu_manager_policy == "static");
  CHECK(config.cpu_manager_options.at("full-pcpus-only") == "true");
  CHECK_FALSE(config.cpu_cfs_quota);
  CHECK(config.cpu_cfs_quota_period_us == 50'000);
  CHECK(config.topology_manager_policy == "best-effort");
  CHECK(config.topology_manager_scope == "container");
  CHECK(config.reserved_cpus == "0-1");
  CHECK(config.system_reserved.at("cpu") == 500);
  CHECK(config.system_reserved.at("memory") == 1073741824);
  CHECK(config.kube_reserved.at("cpu") == 1000);
}

TEST_CASE("an answer without a kubelet's configuration is refused") {
  CHECK(parse_kubelet_config("{}").error().message() == "kubeletconfig: expected a mapping, found nothing");
  CHECK(parse_kubelet_config(R"({"kubeletconfig": 1})").error().message() ==
        "kubeletconfig: expected a mapping, found a number");
  CHECK(parse_kubelet_config(R"({"kubeletconfig": {"cgroupDriver": true}})").error().message() ==
        "kubeletconfig.cgroupDriver: expected text, found a boolean");
  CHECK(*parse_kubelet_config(R"({"kubeletconfig": {}})") == KubeletConfig());
  CHECK(parse_kubelet_config(R"({"kubeletconfig": {"cpuCFSQuota": "no"}})").error().message() ==
        "kubeletconfig.cpuCFSQuota: expected a boolean, found text");
}

TEST_CASE("a claim names its volume once it is bound") {
  CHECK(*parse_claim(R"({"kind": "PersistentVolumeClaim", "metadata": {"namespace": "shop", "name": "data"},
    "spec": {"volumeName": "pv-7"}, "status": {"phase": "Bound"}})") == Claim{"shop/data", "pv-7"});
  CHECK(parse_claim("metadata: {namespace: shop, name: data}")->volume.empty());
  CHECK(parse_claim("metadata: {name: data}").error().message() == "metadata.namespace: expected text, found nothing");
}
