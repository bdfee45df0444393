// SPDX-License-Identifier: Apache-2.0
// BatchGrant: when the computed resources of one node are published. Withdrawn soon, granted late: a short window of
// reports takes resources away, the configured window and threshold grant them again. A node that falls silent loses
// its resources in steps. Silence is measured by our own clock, from one changed report to the next, so that a node's
// clock that is off neither keeps nor loses anything. Pure: the time is passed in. [one thread]
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
  Duration report = std::chrono::minutes(1);        // between two reports of the node
  Duration degrade = std::chrono::minutes(15);      // silent for this time: removed
  Duration write_period = std::chrono::minutes(5);  // a smaller change is granted after it
  double grant_threshold = 0.1;                     // relative change from which on more is granted at once
  Duration fast = std::chrono::seconds(10);         // window for withdrawals
  Duration hold = std::chrono::minutes(1);          // after a withdrawal nothing is granted
  double withdraw_threshold = 0.02;                 // smaller losses wait for the next grant
  std::uint32_t stale_periods = 3;                  // missed reports after which the node is silent
  Duration grace = std::chrono::seconds(30);        // from then to the first step
  std::uint32_t steps = 4;                          // to nothing, one each period of reports

  bool operator==(const GrantRules&) const = default;
};

class BatchGrant {
 public:
  enum class Freshness : std::uint8_t {
    unknown,  // no report was seen to change yet, and the one at hand may be old
    fresh,
    stale,   // silent, and within the grace
    fading,  // being withdrawn in steps
    gone,    // removed, or never reported
  };

  explicit BatchGrant(Time now) : began_(now), last_report_(now) {}

  // A report, and what it leaves for batch. `is_recent`: for the first one that is seen, whether its own time says so;
  // later ones are taken for new. A report with the same `id` as the last is not new, but may leave another amount
  // because pods or settings have changed.
  void report(Time now, const std::string& id, bool is_recent, Duration window, const CpuMemory& available,
              const GrantRules& rules);
  // There is no report any more.
  void no_report() { samples_.clear(); }

  struct Decision {
    enum class Do : std::uint8_t { nothing, publish, remove };
    Do what = Do::nothing;
    CpuMemory amount;

    bool operator==(const Decision&) const = default;
  };
  // `published`: the node's resources now; nullopt: it has none.
  Decision decide(Time now, const std::optional<CpuMemory>& published, const GrantRules& rules);
  // The decision was carried out; `withdrew`: it took something away.
  void written(Time now, bool withdrew);

  Freshness freshness(Time now, const GrantRules& rules) const;
  Time last_report() const { return last_report_; }
  std::size_t samples() const { return samples_.size(); }  // that are kept of reports

 private:
  // A report, or a few that followed one another.
  struct Sample {
    Time first, at;  // at: of the newest
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
  Time last_report_;  // or the beginning
  std::string last_id_;
  bool is_known_ = false;  // a report was new while we looked, or says that it is recent
  bool has_report_ = false;
  std::vector<Sample> samples_;  // new reports; the newest is the last, and alone
  std::optional<Time> last_written_, last_withdrawn_;
  std::optional<CpuMemory> before_fading_;
};

std::string_view name_of(BatchGrant::Freshness freshness);  // "fresh"

}  // namespace koord::manager
