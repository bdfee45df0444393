// SPDX-License-Identifier: Apache-2.0
// Snapshot: everything the agent knows of its node at one moment. Immutable once published and shared by
// pointer, so any thread reads it without a lock for as long as it likes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/state/pod.hpp"
#include "core/state/topology.hpp"

namespace koord::state {

struct Node {
  std::string name;
  StringMap labels;
  StringMap annotations;
  // By resource name; milli-cores, bytes or whole numbers as in Resource.
  std::map<std::string, std::int64_t, std::less<>> capacity;
  std::map<std::string, std::int64_t, std::less<>> allocatable;

  bool operator==(const Node&) const = default;
};

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
  std::vector<Pod> pods;              // by uid
  std::vector<Container> standalone;  // by id; outside of any pod
  std::string node_slo;               // spec of the NodeSLO as JSON text; empty when unknown
  Topology topology;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace koord::state
