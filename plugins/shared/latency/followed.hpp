// SPDX-License-Identifier: Apache-2.0
// Followed keeps, for each pod, container and service of the newest snapshot, its series and its cgroups: those it has
// now and those that ended since, so that what happened last in a removed cgroup still reaches its owner. A container
// that has terminated is followed as long as the snapshot lists it. Used on the plugin's strand.
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
  // Looks which cgroups the subject has now, its own and all below, and adds them to `watched`.
  void find(const CgroupTree& tree, std::string_view cgroup, std::vector<CgroupDirectory>& watched);

  // The differences of this window in every cgroup that has a slot, or had one at the previous read.
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
  // Brings the series in line with the pods and containers of the newest snapshot; `make(handle, is_pod)` makes those
  // that are missing. Nothing changes while the state is not known. Returns whether there may be others now.
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

  // report(Series&, const Total& window) for each.
  template <class Total, class Report>
  void for_each(const Windows<Total>& windows, Report&& report) {
    for (auto& [handle, entry] : entries_) report(entry.series, entry.cgroups.window(windows));
  }

  // visit(Series&, std::uint64_t id) for each of their cgroups, also those that have ended since the last
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
