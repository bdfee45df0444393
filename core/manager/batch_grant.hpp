// SPDX-License-Identifier: Apache-2.0
// BatchGrant: decides when the computed resources of one node are published. Resources are withdrawn soon and granted
// late: a short window of reports is enough to withdraw them; to grant them again takes the configured window and
// threshold. A node that sends no reports loses its resources in steps. The silence is measured on our own clock, from
// one changed report to the next. So an incorrect clock of a node has no effect. Pure: the time is passed in. [one
// thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/manager/node_usage.hpp"

namespace koord::manager {

struct GrantRules {
  Duration aggregate = std::chrono::minutes(5);     // window for grants
  Duration report = std::chrono::minutes(1);        // time between two reports of the node
  Duration degrade = std::chrono::minutes(15);      // after this silence the resources are removed
  Duration write_period = std::chrono::minutes(5);  // a smaller change is granted after this time
  double grant_threshold = 0.1;                     // from this relative change on, more is granted immediately
  Duration fast = std::chrono::seconds(10);         // window for withdrawals
  Duration hold = std::chrono::minutes(1);          // nothing is granted for this time after a withdrawal
  double withdraw_threshold = 0.02;                 // smaller losses wait for the next grant
  std::uint32_t stale_periods = 3;                  // missed reports after which the node is silent
  Duration grace = std::chrono::seconds(30);        // time from the start of the silence to the first step
  std::uint32_t steps = 4;                          // number of steps down to zero, one in each reporting period

  bool operator==(const GrantRules&) const = default;
};

class BatchGrant {
 public:
  enum class Freshness : std::uint8_t {
    unknown,  // no new report has arrived, and the existing one may be old
    fresh,
    stale,   // the node is silent, within the grace time
    fading,  // the resources are being withdrawn in steps
    gone,    // the resources were removed, or the node has never reported
  };

  explicit BatchGrant(Time now) : began_(now), last_report_(now) {}

  // Takes a report, and the resources that it leaves for batch. `is_recent`: whether the first report is recent by its
  // own time; later reports always count as new. A report with the same `id` as the last report is not new, but
  // `available` may differ because pods or settings have changed.
  void report(Time now, const std::string& id, bool is_recent, Duration window, const CpuMemory& available,
              const GrantRules& rules);
  // The report was removed.
  void no_report() { samples_.clear(); }

  struct Decision {
    enum class Do : std::uint8_t { nothing, publish, remove };
    Do what = Do::nothing;
    CpuMemory amount;

    bool operator==(const Decision&) const = default;
  };
  // Returns what to write now. `published`: the current resources of the node; nullopt: it has none.
  Decision decide(Time now, const std::optional<CpuMemory>& published, const GrantRules& rules);
  // Records that the decision was carried out. `withdrew`: it reduced the resources.
  void written(Time now, bool withdrew);

  Freshness freshness(Time now, const GrantRules& rules) const;
  Time last_report() const { return last_report_; }
  std::size_t samples() const { return samples_.size(); }  // number of samples kept

 private:
  // One report, or several consecutive reports.
  struct Sample {
    Time first, at;  // times of the oldest and the newest report
    Duration window;
    double cpu, memory;  // sums
    std::uint32_t reports;
  };

  static Sample sample_of(Time at, Duration window, const CpuMemory& available);
  void merge_older(Time now, const GrantRules& rules);
  CpuMemory mean(Time now, Duration over) const;
  bool covers(Time now, Duration over) const;
  Time silent_at(const GrantRules& rules) const;
  Decision fade(Time now, const std::optional<CpuMemory>& published, const GrantRules& rules);

  Time began_;
  Time last_report_;  // initially the start time
  std::string last_id_;
  bool is_known_ = false;  // a new report has arrived, or the first report is recent
  bool has_report_ = false;
  std::vector<Sample> samples_;  // samples of new reports; the last sample has the newest report only
  std::optional<Time> last_written_, last_withdrawn_;
  std::optional<CpuMemory> before_fading_;
};

std::string_view name_of(BatchGrant::Freshness freshness);  // "fresh"

}  // namespace koord::manager
