// SPDX-License-Identifier: Apache-2.0
// Windows computes the differences between successive readings of running totals, one for each cgroup. A Total is a
// value with `operator+=`, `bool empty() const` and a free function `Total added(const Total& before, const Total&
// now)`, like Histogram. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace koord::latency {

template <class Total>
struct CgroupTotal {
  std::uint64_t cgroup = 0;  // the inode number of its directory
  Total total;               // since the kernel first saw the cgroup
};

// The running totals of all cgroups, read at one time.
template <class Total>
struct Reading {
  std::vector<CgroupTotal<Total>> cgroups;
  std::vector<CgroupTotal<Total>> ended;  // the last totals of cgroups removed since the previous reading
  // Events of cgroups without a slot, because no slot was free; nullopt if the source does not see the whole node.
  std::optional<Total> unassigned;
  std::uint64_t lost_begins = 0;    // delays of unknown length; they are in no total
  std::uint64_t missed_events = 0;  // events that the kernel did not pass to the programs
  std::uint32_t slots_used = 0;
  std::uint32_t slots = 0;  // 0: the source has no limit
};

template <class Total>
class Windows {
 public:
  void advance(const Reading<Total>& reading) {
    added_.clear();
    node_.reset();
    if (reading.unassigned) {
      node_ = added(unassigned_.value_or(Total{}), *reading.unassigned);
      unassigned_ = reading.unassigned;
    }
    ByCgroup totals;
    for (const auto& cgroup : reading.cgroups) take(cgroup, &totals);
    for (const auto& cgroup : reading.ended) take(cgroup, nullptr);
    totals_ = std::move(totals);
  }

  // Returns the difference of a cgroup; empty if nothing happened.
  const Total& of(std::uint64_t cgroup) const {
    static const Total kNothing{};
    auto found = added_.find(cgroup);
    return found == added_.end() ? kNothing : found->second;
  }
  // Returns the sum of all cgroups and of `unassigned`; nullopt if the source does not see the whole node.
  const std::optional<Total>& node() const { return node_; }

 private:
  using ByCgroup = std::unordered_map<std::uint64_t, Total>;

  void take(const CgroupTotal<Total>& now, ByCgroup* totals) {
    auto before = totals_.find(now.cgroup);
    Total difference = before == totals_.end() ? now.total : added(before->second, now.total);
    if (node_) *node_ += difference;
    if (!difference.empty()) added_.insert_or_assign(now.cgroup, std::move(difference));
    if (totals) totals->insert_or_assign(now.cgroup, now.total);
  }

  ByCgroup totals_, added_;
  std::optional<Total> unassigned_, node_;
};

}  // namespace koord::latency
