// SPDX-License-Identifier: Apache-2.0
// CpuAnalysis: the verdicts about the CPU of all containers of a node, from their windows. Keeps the baseline of each
// workload, which its containers share, and the standing verdict of each container. Pure. [one thread at a time]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/baseline.hpp"
#include "core/analysis/cpu_rule.hpp"
#include "core/analysis/verdict_tracker.hpp"

namespace koord::analysis {

// A container in a window.
struct CpuSubject {
  std::string workload;  // containers of the same workload have the same: owner and container name
  CpuWindow window;
};

class CpuAnalysis {
 public:
  // A verdict that was confirmed or cleared with this window.
  struct Event {
    Change change{};
    Verdict verdict;
  };

  explicit CpuAnalysis(CpuRule rule = {}, ConfirmationRule confirmation = {})
      : rule_(rule), confirmation_(confirmation) {}

  // The windows of all containers that exist, which ended at this time. A container that is missing has ended: its
  // verdict goes without an event.
  std::vector<Event> add(Time at, const std::vector<CpuSubject>& subjects);

  // In the order of their subjects.
  std::vector<Verdict> verdicts() const;

 private:
  // So that a workload that is made anew is known.
  static constexpr Duration kForgetAfter = std::chrono::hours(24);

  struct Workload {
    Baseline baseline;
    Time seen{};
  };

  CpuRule rule_;
  ConfirmationRule confirmation_;
  std::map<std::string, Workload> workloads_;
  std::map<Subject, VerdictTracker> trackers_;
};

}  // namespace koord::analysis
