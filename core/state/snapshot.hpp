// SPDX-License-Identifier: Apache-2.0
// Snapshot: everything the agent knows of its node at one moment. Immutable once published and shared by
// pointer, so any thread reads it without a lock for as long as it likes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cpu_owners.hpp"
#include "core/state/pod.hpp"
#include "core/state/shared_list.hpp"
#include "core/state/topology.hpp"

namespace koord::state {

struct NodeAddress {
  std::string type;  // "InternalIP"
  std::string address;

  bool operator==(const NodeAddress&) const = default;
};

struct Node {
  std::string name;
  std::string uid;  // in the API server; empty: no cluster
  StringMap labels;
  StringMap annotations;
  // By resource name; milli-cores, bytes or whole numbers as in Resource.
  std::map<std::string, std::int64_t, std::less<>> capacity;
  std::map<std::string, std::int64_t, std::less<>> allocatable;
  std::vector<NodeAddress> addresses;
  std::int32_t kubelet_port = 0;  // 0: unknown

  bool operator==(const Node&) const = default;
};

// The used part of the kubelet's configuration; empty and 0 if unset.
struct KubeletConfig {
  std::string cgroup_driver;  // "systemd" or "cgroupfs"
  std::string cgroup_root;
  std::string cpu_manager_policy;
  bool cpu_cfs_quota = true;                 // limits of CPU become quotas,
  std::int64_t cpu_cfs_quota_period_us = 0;  // of this period
  StringMap cpu_manager_options;
  std::string topology_manager_policy;
  std::string topology_manager_scope;
  std::string reserved_cpus;  // reservedSystemCPUs, as a list of CPUs
  std::map<std::string, std::int64_t, std::less<>> system_reserved;
  std::map<std::string, std::int64_t, std::less<>> kube_reserved;

  bool operator==(const KubeletConfig&) const = default;
};

// Objects of the API server that belong to this node and only the agent itself needs ("NodeMetric",
// "NodeResourceTopology", "Device"), by kind, as JSON text with their resourceVersion. Not in the map: not known yet;
// empty text: missing.
using NodeObjects = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;

// The parts of a snapshot, as bits of a mask; the values are those of the plugin ABI's events.
enum Part : std::uint32_t { kNode = 1, kPods = 2, kNodeSlo = 4, kTopology = 8 };

// A version grows by one whenever its part changed; 0 means never published.
struct Versions {
  std::uint64_t node = 0;
  std::uint64_t pods = 0;  // pods and standalone containers
  std::uint64_t node_slo = 0;
  std::uint64_t topology = 0;
};

struct Snapshot {
  Versions versions;
  Node node;
  SharedList<Pod> pods;               // by uid
  std::vector<Container> standalone;  // by id; outside of any pod
  std::string node_slo;               // the effective NodeSLO: its spec over the defaults, as JSON text; empty: unknown
  Topology topology;
  std::shared_ptr<const CpuOwners>
      cpu_owners;  // null: the topology is not known yet. Another one makes another version of it
  // These have no version of their own.
  std::optional<KubeletConfig> kubelet;
  StringMap volumes;  // of persistent volume claims, by "namespace/name"
  NodeObjects objects;
  std::shared_ptr<const std::string> received_slo;  // the NodeSLO's spec as it came; null: none came
  std::shared_ptr<const std::string> cluster_slo;   // data of the cluster's ConfigMap as JSON text; null: not known
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace koord::state
