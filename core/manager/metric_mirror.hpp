// SPDX-License-Identifier: Apache-2.0
// MetricMirror: writes agents' reports to the status of NodeMetrics of slo.koordinator.sh (mirror_plan.hpp), for
// Koordinator's scheduler and other readers of that object. It runs only while this replica leads. [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/manager/mirror_plan.hpp"

namespace koord::manager {

class MetricMirror {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    kube::Client& client;
    std::function<bool()> leads;
    // Returns the status of a node's newest report as JSON; "" if it is no longer known.
    std::function<std::string(const std::string& node)> status;
  };
  struct Counts {
    std::uint64_t written = 0, absent = 0, failed = 0;
  };

  explicit MetricMirror(Parts parts, const MirrorPlan::Options& options = {},
                        Duration period = std::chrono::seconds(1));
  ~MetricMirror();
  MetricMirror(const MetricMirror&) = delete;
  MetricMirror& operator=(const MetricMirror&) = delete;

  // Called when an agent has reported to this replica.
  void report(const std::string& node, std::string_view status);
  void forget(const std::string& node);
  // Cancels the writes in flight. Called when this replica no longer leads.
  void end();

  const Counts& counts() const { return counts_; }
  const std::string& problem() const { return problem_; }  // of the last failed write; empty after a success

 private:
  void run();
  void write(const std::string& node);
  void take(const std::string& node, const Result<kube::Reply>& reply);

  const Parts parts_;
  MirrorPlan plan_;
  Counts counts_;
  std::string problem_;
  bool led_ = false;
  std::map<std::string, kube::Client::PendingPtr> pending_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::manager
