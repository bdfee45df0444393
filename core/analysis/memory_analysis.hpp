// SPDX-License-Identifier: Apache-2.0
// MemoryAnalysis: the verdicts about memory for all containers of a node, from their windows. It stores the quiet level
// of each workload and the standing verdict of each container. Pure. [one thread at a time]
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/baseline.hpp"
#include "core/analysis/baseline_record.hpp"
#include "core/analysis/last_seen.hpp"
#include "core/analysis/memory_rule.hpp"
#include "core/analysis/rules.hpp"
#include "core/analysis/verdicts.hpp"

namespace koord::analysis {

// A container in a window.
struct MemorySubject {
  std::string workload;  // owner and container name; the same for all containers of a workload
  MemoryWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // rules of this workload; null: the rules of the node
};

class MemoryAnalysis {
 public:
  explicit MemoryAnalysis(Rules rules = {}) : rules_(rules), verdicts_(rules.confirmation) {}

  // Sets the rules from the next window on. Standing verdicts end. Quiet levels are learned again if their settings
  // changed.
  std::vector<VerdictEvent> set_rules(const Rules& rules);

  // Adds the windows of all existing containers, which ended at this time. A missing container has ended.
  std::vector<VerdictEvent> add(Time at, const std::vector<MemorySubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }

  // Save and restore quiet levels, as in CpuAnalysis, but without suspects.
  std::vector<SavedBaseline> save(Time now) const;
  void restore(const std::vector<SavedBaseline>& saved, Time now);
  void adopt(const std::vector<SavedBaseline>& offered, Time now);

 private:
  struct Workload {
    Baseline refault_time;
    Time seen{};
  };

  Rules rules_;
  std::map<std::string, Workload> workloads_;
  Verdicts verdicts_;
};

}  // namespace koord::analysis
