// SPDX-License-Identifier: Apache-2.0
// Followed keeps the series and the cgroups of each pod, container and service of the newest snapshot. It also keeps
// cgroups that have ended since the last search, so the last events of a removed cgroup are still counted for its
// owner. A container that has terminated is kept while the snapshot lists it. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::latency {

class FollowedCgroups {
 public:
  // Finds the subject's current cgroups, its own and all below, and adds them to `watched`.
  void find(const CgroupTree& tree, std::string_view cgroup, std::vector<CgroupDirectory>& watched);

  // Returns the sum of this window over all cgroups of the subject: the current ones and those that ended before the
  // last find().
  template <class Total>
  Total window(const Windows<Total>& windows) const {
    Total sum{};
    for (std::uint64_t id : now_) sum += windows.of(id);
    for (std::uint64_t id : gone_) sum += windows.of(id);
    return sum;
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint64_t id : now_) visit(id);
    for (std::uint64_t id : gone_) visit(id);
  }

 private:
  std::vector<std::uint64_t> now_, gone_;
};

template <class Series>
class Followed {
 public:
  // Updates the entries to the pods and containers of the newest snapshot. `make(handle, is_pod)` creates a missing
  // series. Does nothing while the state is unknown. Returns whether a new snapshot was read.
  template <class Make>
  bool follow(const koord_host* host, const koord_svc_state* state, Make&& make) {
    auto snapshot = plugin::Snapshot::if_known(host, state);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == version_) return false;
    Entries next;
    const auto keep_or_make = [&](std::uint64_t handle, koord_str dir, bool is_pod) {
      if (dir.n == 0) return;
      const std::string_view cgroup = plugin::view(dir);
      if (auto at = entries_.find(handle); at != entries_.end() && at->second.cgroup == cgroup)
        next.insert(entries_.extract(at));
      else
        next.try_emplace(handle, std::string(cgroup), make(handle, is_pod));
    };
    for (const koord_pod& pod : snapshot->pods()) {
      keep_or_make(pod.handle, pod.cgroup_dir, true);
      for (const koord_container& container : plugin::containers_of(pod))
        keep_or_make(container.handle, container.cgroup_dir, false);
    }
    for (const koord_container& container : snapshot->containers())
      keep_or_make(container.handle, container.cgroup_dir, false);
    entries_ = std::move(next);
    version_ = snapshot->version(KOORD_ON_PODS);
    return true;
  }

  std::vector<CgroupDirectory> find_cgroups(const CgroupTree& tree) {
    std::vector<CgroupDirectory> watched;
    for (auto& [handle, entry] : entries_) entry.cgroups.find(tree, entry.cgroup, watched);
    return watched;
  }

  // Calls report(Series&, const Total& window) for each entry.
  template <class Total, class Report>
  void for_each(const Windows<Total>& windows, Report&& report) {
    for (auto& [handle, entry] : entries_) report(entry.series, entry.cgroups.window(windows));
  }

  // Calls visit(Series&, std::uint64_t id) for each cgroup of each entry, including cgroups that had ended at the last
  // find_cgroups().
  template <class Visit>
  void for_each_cgroup(Visit&& visit) {
    for (auto& one : entries_) {
      Series& series = one.second.series;
      one.second.cgroups.for_each([&](std::uint64_t id) { visit(series, id); });
    }
  }

 private:
  struct Entry {
    Entry(std::string dir, Series&& made) : cgroup(std::move(dir)), series(std::move(made)) {}
    std::string cgroup;
    FollowedCgroups cgroups;
    Series series;
  };
  using Entries = std::unordered_map<std::uint64_t, Entry>;

  std::uint64_t version_ = 0;
  Entries entries_;
};

}  // namespace koord::latency
