// SPDX-License-Identifier: Apache-2.0
// SnapshotView: a snapshot of the state in the records of the plugin ABI. Text is borrowed from the snapshot, which
// the view keeps alive; the records are built once and shared by all plugins. Immutable: [any thread].
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/metric/labels.hpp"
#include "core/state/snapshot.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

class SnapshotView {
 public:
  explicit SnapshotView(state::SnapshotPtr snapshot);
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;

  const state::Snapshot& snapshot() const { return *snapshot_; }
  bool knows_anything() const;
  std::uint64_t version(std::uint32_t part) const;  // KOORD_ON_*; 0: not known yet, or no such part

  // Parts that are not known yet are null or empty.
  const koord_node* node() const { return version(KOORD_ON_NODE) ? &node_ : nullptr; }
  const koord_topology* topology() const { return version(KOORD_ON_TOPOLOGY) ? &topology_ : nullptr; }
  std::span<const koord_pod> pods() const { return pods_; }
  std::span<const koord_container> standalone() const { return standalone_; }
  koord_str node_slo() const;

  // The labels of a pod or container; nullopt if it is missing in this snapshot.
  std::optional<metric::Subject> subject(std::uint64_t handle) const;
  // Its cgroup, borrowed from this snapshot; empty: not known yet. nullopt as above.
  std::optional<std::string_view> cgroup_of(std::uint64_t handle) const;

 private:
  struct Living {
    std::uint64_t handle;
    const state::Pod* pod;              // null: a container outside any pod
    const state::Container* container;  // null: the pod itself
  };

  const Living* find_living(std::uint64_t handle) const;
  void reserve();
  void build_node();
  void build_pods();
  void build_topology();
  void index_subjects();
  koord_pod record(const state::Pod& pod);
  koord_container record(const state::Container& container);
  const koord_label* add(const state::StringMap& labels);
  const koord_resource* add(const std::vector<state::Resource>& resources);

  state::SnapshotPtr snapshot_;
  koord_node node_ = {};
  koord_topology topology_ = {};
  // Reserved to their final size first: records point into one another.
  std::vector<koord_label> labels_;
  std::vector<koord_resource> resources_;
  std::vector<koord_container> containers_;
  std::vector<koord_container> standalone_;
  std::vector<koord_pod> pods_;
  std::vector<koord_cpu> cpus_;
  std::vector<koord_numa_node> numa_nodes_;
  std::vector<Living> living_;  // by handle
};

using SnapshotViewPtr = std::shared_ptr<const SnapshotView>;

// Keeps the view of the newest snapshot, so that it is built once, by the first caller.
class SnapshotViews {
 public:
  SnapshotViewPtr of(state::SnapshotPtr snapshot);

 private:
  std::mutex mutex_;
  SnapshotViewPtr newest_;
};

}  // namespace koord::service
