// SPDX-License-Identifier: Apache-2.0
// ServiceMeter: the agent's cost of one session of a plugin, and the quotas it met. Outlives its context for readers.
// [any thread]
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.hpp"
#include "core/service/quota_breaches.hpp"

namespace koord::service {

class ServiceMeter {
 public:
  // CPU time of this process that was spent for the plugin outside of its calls: on requests of its process, if it has
  // one of its own, and on scrapes of its endpoints. Counts up.
  void charge(Duration cpu) { cpu_ns_.fetch_add(cpu.count(), std::memory_order_relaxed); }
  Duration cpu() const { return Duration(cpu_ns_.load(std::memory_order_relaxed)); }

  QuotaBreaches breaches;

 private:
  std::atomic<std::int64_t> cpu_ns_ = 0;
};

}  // namespace koord::service
