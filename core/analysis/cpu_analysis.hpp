// SPDX-License-Identifier: Apache-2.0
// CpuAnalysis: the verdicts about the CPU for all containers of a node, from their windows. It stores the baseline of
// each workload (shared by its containers): how much the workload is held up in quiet windows, in total and by each
// suspect. It also stores the standing verdict of each container. Pure. [one thread at a time]
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
  std::string workload;  // owner and container name; the same for all containers of a workload
  CpuWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // rules of this workload; null: the rules of the node
};

class CpuAnalysis {
 public:
  explicit CpuAnalysis(Rules rules = {}) : rules_(rules), verdicts_(rules.confirmation) {}

  // Sets the rules from the next window on. Standing verdicts end, baselines are kept.
  std::vector<VerdictEvent> set_rules(const Rules& rules, Time now);

  // Adds the windows of all existing containers, which ended at this time. A missing container has ended, so its
  // verdict is removed without an event.
  std::vector<VerdictEvent> add(Time at, const std::vector<CpuSubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }

  // Returns the baselines of all workloads, to save them for restarts.
  std::vector<SavedBaseline> save(Time now) const;
  // Restores saved baselines. Call it before the first windows. Ignores workloads that were not seen for too long.
  void restore(const std::vector<SavedBaseline>& saved, Time now);
  // Restores baselines of the cluster in the same way. They are initial values for workloads with an unknown quiet
  // level on this node.
  void adopt(const std::vector<SavedBaseline>& offered, Time now);

 private:
  struct Workload {
    Baseline baseline;
    Time seen{};
    std::map<std::string, Baseline> suspects;  // the wait for each suspect: a workload, the kernel or the outside
  };
  // The workload name of each container in the window.
  using Names = std::map<Subject, const std::string*>;

  void compare_with_quiet(Workload& workload, Time at, std::vector<Suspect>& suspects, const Names& names) const;

  Rules rules_;
  std::map<std::string, Workload> workloads_;
  Verdicts verdicts_;
};

}  // namespace koord::analysis
