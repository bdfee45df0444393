// SPDX-License-Identifier: Apache-2.0
// LevelSeries: the series of the node and of each of its pods and containers, with the windows between readings that
// they report. `Metrics` holds the metrics of one level; a `Series` is constructed from them and from a subject. Used
// on the plugin's strand.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"
#include "plugins/shared/latency/followed.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::latency {

template <class Total, class Metrics, class Series>
class LevelSeries {
 public:
  LevelSeries() = default;
  LevelSeries(Metrics container, Metrics pod, const Metrics& node)
      : container_metrics_(std::move(container)), pod_metrics_(std::move(pod)), node_(node, KOORD_NO_SUBJECT) {}

  // Updates to the pods and containers of the newest snapshot and returns their current cgroups. Call it before each
  // reading.
  std::vector<CgroupDirectory> follow(const koord_host* host, const koord_svc_state* state, const CgroupTree& tree) {
    followed_.follow(host, state, [this](std::uint64_t handle, bool is_pod) {
      return Series(is_pod ? pod_metrics_ : container_metrics_, handle);
    });
    return followed_.find_cgroups(tree);
  }

  // Starts from these totals, for a source that does not continue the previous readings.
  void restart(const Reading<Total>& reading) {
    windows_ = {};
    windows_.advance(reading);
  }

  // Calls report(Series&, const Total& window) for each pod and container, and for the node if the source sees the
  // whole node.
  template <class Report>
  void report(const Reading<Total>& reading, Report&& report) {
    windows_.advance(reading);
    followed_.for_each(windows_, report);
    if (windows_.node()) report(node_, *windows_.node());
  }

 private:
  Metrics container_metrics_, pod_metrics_;
  Windows<Total> windows_;
  Followed<Series> followed_;
  Series node_;
};

}  // namespace koord::latency
