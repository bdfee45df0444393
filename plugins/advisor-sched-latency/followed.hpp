// SPDX-License-Identifier: Apache-2.0
// Followed is one pod, container or service with its cgroups: those it has now and those that ended since, so
// that the last waits of a removed cgroup still reach their owner. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/advisor-sched-latency/cgroup_tree.hpp"
#include "plugins/advisor-sched-latency/latency_metrics.hpp"
#include "plugins/advisor-sched-latency/sched_latency.hpp"

namespace koord::sched_latency {

class Followed {
 public:
  Followed(std::string cgroup, SubjectSeries series) : cgroup_(std::move(cgroup)), series_(series) {}

  const std::string& cgroup() const { return cgroup_; }

  // Looks which cgroups it has now, its own and all below, and adds them to `watched`.
  void find_cgroups(const CgroupTree& tree, std::vector<CgroupDirectory>& watched);

  // What its threads waited in this window, in every cgroup that it has or had at the look before.
  Histogram window(const Windows& windows) const;
  SubjectSeries& series() { return series_; }

 private:
  std::string cgroup_;
  SubjectSeries series_;
  std::vector<std::uint64_t> now_, before_;
};

}  // namespace koord::sched_latency
