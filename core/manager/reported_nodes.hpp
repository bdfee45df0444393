// SPDX-License-Identifier: Apache-2.0
// ReportedNodes: processes the reports that this replica receives while it leads. A node without a report for three of
// its periods gets the condition Fresh=False. Reports are mirrored to slo.koordinator.sh. [loop thread]
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/manager/metric_mirror.hpp"
#include "core/manager/report_freshness.hpp"
#include "core/manager/served_metrics.hpp"

namespace koord::manager {

class ReportedNodes {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    kube::Client& client;  // used only by the mirror
    ServedMetrics& served;
  };

  ReportedNodes(Parts parts, bool mirrors);

  void lead(bool leads);
  void take(const aggregated::PlainObject& report);
  // Call it periodically.
  void check();

  std::size_t stale() const;  // nodes with Fresh=False
  // Returns nullopt if reports are not mirrored.
  std::optional<MetricMirror::Counts> mirrored() const;
  std::string problem() const;  // problem of the mirror; empty: none

 private:
  struct Node {
    aggregated::ObjectPtr report;
    bool is_stale = false;
  };
  void forget_missing();
  bool mark_stale(const ReportFreshness::Change& change);

  const Parts parts_;
  ReportFreshness freshness_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, ReportFreshness::Change> to_mark_;
  std::unique_ptr<MetricMirror> mirror_;
};

}  // namespace koord::manager
