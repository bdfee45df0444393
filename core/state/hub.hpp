// SPDX-License-Identifier: Apache-2.0
// Hub: takes the findings of sources and provides the current snapshot. It gives each pod and container a handle that
// stays the same while its uid or id exists and is never used again, and reports ended ones. [any thread]; callbacks
// run in the publishing thread, one publish at a time, and must not publish themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/clock.hpp"
#include "core/state/snapshot.hpp"

namespace koord::state {

// The findings of a source. A part left out is kept as it is.
struct Update {
  std::optional<Node> node;
  std::optional<std::vector<Pod>> pods;
  std::optional<std::vector<Container>> standalone;
  std::optional<std::string> node_slo;
  std::optional<Topology> topology;
  std::optional<KubeletConfig> kubelet;
  std::optional<StringMap> volumes;
  NodeObjects objects;  // each replaces the one of its kind
  std::shared_ptr<const std::string> received_slo, cluster_slo;
};

class Hub {
 public:
  using OnChange = std::function<void(std::uint32_t changed, const SnapshotPtr&)>;
  using OnSubjectEnd = std::function<void(std::uint64_t handle)>;

  Hub();
  ~Hub();

  // Never null; all empty before the first publish.
  SnapshotPtr current() const;

  // Publishes a new snapshot when something differs from the current one; returns the mask of changed parts. Ended
  // subjects are reported first, then the change.
  std::uint32_t publish(Update update);

  // A source confirms that this part is unchanged, or has just published it. Unconfirmed parts get old, and their users
  // need to know their age:
  void confirm(Part part, Time at);
  // When a source last confirmed this part; nullopt: never.
  std::optional<Time> confirmed(Part part) const;

  // Callbacks stay as long as the Hub; their captures must, too, unless removed.
  std::uint64_t subscribe(OnChange on_change);
  std::uint64_t on_subject_end(OnSubjectEnd on_end);
  // After this returns, the callback is not running and will not run. Not from within a callback.
  void remove(std::uint64_t subscription);

 private:
  struct Subscriber {
    std::uint64_t id;
    OnChange on_change;
    OnSubjectEnd on_end;
  };
  using Handles = std::unordered_map<std::string, std::uint64_t>;

  static bool replace_workloads(Snapshot& next, std::optional<std::vector<Pod>> pods,
                                std::optional<std::vector<Container>> standalone);
  void assign_handles(std::vector<Pod>& pods, Handles& next);
  void assign_handles(std::vector<Container>& containers, const std::string& owner, const Handles& known,
                      Handles& next);
  std::uint64_t handle_of(const std::string& key, const Handles& known, Handles& next);
  static void retire(Handles& current, Handles next, std::vector<std::uint64_t>& ended);
  void announce(std::uint32_t changed, const std::vector<std::uint64_t>& ended, const SnapshotPtr& snapshot);

  std::mutex publishing_;  // order: publishing_ before current_mutex_
  Handles pod_handles_;
  Handles standalone_handles_;
  std::uint64_t last_handle_ = 0;
  std::vector<Subscriber> subscribers_;
  std::uint64_t last_subscription_ = 0;

  mutable std::mutex current_mutex_;
  SnapshotPtr current_;
  std::map<std::uint32_t, Time> confirmed_;  // by part
};

}  // namespace koord::state
