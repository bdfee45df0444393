// SPDX-License-Identifier: Apache-2.0
// MemoryAnalysis: the verdicts about memory of all containers of a node, from their windows. Keeps the quiet level of
// each workload and the standing verdict of each container. Pure. [one thread at a time]
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
  std::string workload;  // containers of the same workload have the same: owner and container name
  MemoryWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // of this workload; null: those of the node
};

class MemoryAnalysis {
 public:
  explicit MemoryAnalysis(Rules rules = {}) : rules_(rules), verdicts_(rules.confirmation) {}

  // From the next window on. Standing verdicts end. Quiet levels are learnt again if their own settings
  // are others.
  std::vector<VerdictEvent> set_rules(const Rules& rules);

  // The windows of all containers that exist, which ended at this time. A container that is missing has ended.
  std::vector<VerdictEvent> add(Time at, const std::vector<MemorySubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }

  // As in CpuAnalysis; without suspects.
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
