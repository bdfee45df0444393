// SPDX-License-Identifier: Apache-2.0
// DescriptorBudget: how many descriptors of one sort may stay open, and how many do. The process shares its limit with
// sockets, the store and plugins, so when it runs out the budget shrinks by a quarter: a holder for which must_return()
// is true closes its own with its next read. The budget grows again after a while without shortage. [any thread]
#pragma once

#include <atomic>
#include <cstddef>

#include "core/base/clock.hpp"

namespace koord::cgroup {

class DescriptorBudget {
 public:
  static constexpr Duration kRecovery = std::chrono::minutes(1);  // from one step of growth to the next

  explicit DescriptorBudget(std::size_t limit) : limit_(limit), allowed_(limit) {}

  // Takes one, unless there are `most_parts` quarters of the allowed number already. False: do without.
  bool take(Time now, unsigned most_parts = 4);
  void release() { kept_.fetch_sub(1, std::memory_order_relaxed); }

  // More descriptors are open than the budget allows now.
  bool must_return() const { return kept() > allowed_.load(std::memory_order_relaxed); }

  // The kernel refused one (EMFILE, ENFILE).
  void on_shortage(Time now);

  std::size_t kept() const { return kept_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_; }

 private:
  void recover(Time now);

  const std::size_t limit_;
  std::atomic<std::size_t> kept_ = 0;
  std::atomic<std::size_t> allowed_;
  std::atomic<Duration::rep> changed_ = 0;  // host time of the last shortage or growth
};

}  // namespace koord::cgroup
