// SPDX-License-Identifier: Apache-2.0
// VerdictTracker: derives a standing verdict from findings of single windows. A single finding may be an accident. So a
// verdict is confirmed when enough of the last windows have a finding of the same kind, and cleared after some time
// without a finding. Pure; one tracker per container. [one thread at a time]
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

struct ConfirmationRule {
  int windows = 5, of_them = 3;               // confirmed: `of_them` of the last `windows` have a finding
  Duration clear = std::chrono::seconds(10);  // time without a finding

  bool operator==(const ConfirmationRule&) const = default;
};

enum class Change { none, confirmed, cleared };

class VerdictTracker {
 public:
  explicit VerdictTracker(Subject subject, ConfirmationRule rule = {}) : rule_(rule), subject_(subject) {}

  // Adds the finding of the window that ended at this time. A verdict of a different kind replaces the standing verdict
  // only when it is confirmed itself.
  Change add(Time at, const Finding& finding);

  const ConfirmationRule& rule() const { return rule_; }

  // Returns the standing verdict; null: no verdict stands. Its values are averages over the windows with a finding in
  // the 10 s before its end. `statistic` averages only findings with the same statistic as the last finding.
  const Verdict* verdict() const { return verdict_ ? &*verdict_ : nullptr; }
  // Returns the verdict that was cleared last.
  const std::optional<Verdict>& last() const { return last_; }

 private:
  struct Seen {
    Time at;
    Finding finding;
  };

  std::optional<Kind> confirmed_kind() const;
  void begin(Kind kind);
  void extend(Time at, const Finding& finding);
  void average();

  ConfirmationRule rule_;
  Subject subject_;
  std::deque<Seen> seen_;      // the last windows
  std::deque<Seen> averaged_;  // findings of the verdict's kind
  std::optional<Verdict> verdict_, last_;
};

}  // namespace koord::analysis
