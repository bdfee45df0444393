// SPDX-License-Identifier: Apache-2.0
// CpuAnalysis: the verdicts about the CPU of all containers of a node, from their windows. Keeps the baseline of each
// workload, which its containers share: how much it is held up in quiet windows, in all and by each suspect. Keeps the
// standing verdict of each container. Pure. [one thread at a time]
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/baseline_record.hpp"
#include "core/analysis/last_seen.hpp"
#include "core/analysis/rules.hpp"
#include "core/analysis/verdicts.hpp"

namespace koord::analysis {

// A container in a window.
struct CpuSubject {
  std::string workload;  // containers of the same workload have the same: owner and container name
  CpuWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // of this workload; null: those of the node
};

class CpuAnalysis {
 public:
  explicit CpuAnalysis(Rules rules = {}) : rules_(rules), verdicts_(rules.confirmation) {}

  // From the next window on. Standing verdicts end, baselines stay.
  std::vector<VerdictEvent> set_rules(const Rules& rules, Time now);

  // The windows of all containers that exist, which ended at this time. A container that is missing has ended: its
  // verdict goes without an event.
  std::vector<VerdictEvent> add(Time at, const std::vector<CpuSubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }

  // Returns the baselines of all workloads, to keep over restarts.
  std::vector<SavedBaseline> save(Time now) const;
  // Before the first windows. Drops those that were not seen for too long.
  void restore(const std::vector<SavedBaseline>& saved, Time now);
  // The same for baselines of the cluster: as a start for workloads with a quiet level that is unknown here.
  void adopt(const std::vector<SavedBaseline>& offered, Time now);

 private:
  struct Workload {
    Baseline baseline;
    Time seen{};
    std::map<std::string, Baseline> suspects;  // the wait for each: a workload, or another occupant
  };
  // The workload of each container in the window.
  using Names = std::map<Subject, const std::string*>;

  void compare_with_quiet(Workload& workload, Time at, std::vector<Suspect>& suspects, const Names& names) const;

  Rules rules_;
  std::map<std::string, Workload> workloads_;
  Verdicts verdicts_;
};

}  // namespace koord::analysis
