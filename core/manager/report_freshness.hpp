// SPDX-License-Identifier: Apache-2.0
// ReportFreshness: whether each node's newest report is current, by the time since it came. A node is stale when three
// of its periods have passed without a report. Its reports state the period, else it is learned from their times. After
// a change of the leader no node is judged for a period. And the condition Fresh in a status. No I/O and no clock. [one
// thread]
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

// The period that the status of a report states within its first bytes; nullopt: none, or an invalid one. The rest is
// not read.
inline constexpr std::size_t kPeriodWithin = 1024;
std::optional<Duration> stated_period(std::string_view status);

class ReportFreshness {
 public:
  static constexpr int kPeriodsFresh = 3;
  static constexpr Duration kLeastPeriod = std::chrono::seconds(1);
  static constexpr Duration kMostPeriod = std::chrono::minutes(1);  // also while it is unknown

  struct Change {
    std::string node;
    bool is_fresh = false;
    std::int64_t since_last_seconds = 0;  // from its last report

    bool operator==(const Change&) const = default;
  };

  // This replica begins to lead: earlier reports may have gone to another one.
  void lead(Time now);
  // `stated`: the period that the report states; nullopt: none.
  void report(const std::string& node, Time now, std::optional<Duration> stated = {});
  void forget(std::string_view node);

  // Nodes with a condition that changes now, in the order of names. A node is fresh with its first report.
  std::vector<Change> changes(Time now);

  bool is_fresh(std::string_view node, Time now) const;
  Duration period_of(std::string_view node) const;

 private:
  struct Node {
    Time last{};
    std::optional<Duration> stated;
    std::array<Duration, 3> intervals{};  // the last ones; zero: unknown
    std::size_t next = 0;
    bool is_reported = false, reported_fresh = false;

    Duration period() const;
  };
  bool is_fresh(const Node& node, Time now) const;

  std::map<std::string, Node, std::less<>> nodes_;
  Time led_since_ = Time::min();
};

}  // namespace koord::manager
