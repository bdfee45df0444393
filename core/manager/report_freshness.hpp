// SPDX-License-Identifier: Apache-2.0
// ReportFreshness: tracks whether the newest report of each node is current. A node is stale after three of its periods
// without a report. Reports state the period; otherwise it is measured from their times. After a change of the leader
// no node becomes stale for one period. No I/O and no clock. [one thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::manager {

// Returns the period that the status of a report states within its first kPeriodWithin bytes; nullopt if it is missing
// or invalid. The rest is not read.
inline constexpr std::size_t kPeriodWithin = 1024;
std::optional<Duration> stated_period(std::string_view status);

class ReportFreshness {
 public:
  static constexpr int kPeriodsFresh = 3;
  static constexpr Duration kLeastPeriod = std::chrono::seconds(1);
  static constexpr Duration kMostPeriod = std::chrono::minutes(1);  // also used while the period is unknown

  struct Change {
    std::string node;
    bool is_fresh = false;
    std::int64_t since_last_seconds = 0;  // time since its last report

    bool operator==(const Change&) const = default;
  };

  // Called when this replica begins to lead. Earlier reports may have been sent to a different replica.
  void lead(Time now);
  // `stated`: the period stated by the report; nullopt: none.
  void report(const std::string& node, Time now, std::optional<Duration> stated = {});
  void forget(std::string_view node);

  // Returns the nodes with a condition that changes now, sorted by name. A node is fresh from its first report on.
  std::vector<Change> changes(Time now);

  bool is_fresh(std::string_view node, Time now) const;
  Duration period_of(std::string_view node) const;

 private:
  struct Node {
    Time last{};
    std::optional<Duration> stated;
    std::array<Duration, 3> intervals{};  // times between the last reports; zero: unknown
    std::size_t next = 0;
    bool is_reported = false, reported_fresh = false;

    Duration period() const;
  };
  bool is_fresh(const Node& node, Time now) const;

  std::map<std::string, Node, std::less<>> nodes_;
  Time led_since_ = Time::min();
};

}  // namespace koord::manager
