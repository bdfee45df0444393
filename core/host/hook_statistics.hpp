// SPDX-License-Identifier: Apache-2.0
// HookStatistics: the answers of each runtime hook at each stage since the agent's start, in numbers; and the histogram
// host_hook_seconds of /metrics. Questions about pods that exist count like those of a runtime. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/latency.hpp"
#include "core/host/hook_call.hpp"
#include "core/metric/host_metrics.hpp"

namespace koord::host {

// The answers of one hook at one stage.
struct HookUse {
  std::string plugin, name;  // of the plugin and of its class
  std::uint32_t stage = 0;   // KOORD_STAGE_*
  std::uint64_t asked = 0;
  std::uint64_t late = 0, failed = 0, rejected = 0;  // of these
  std::uint64_t conflicts = 0;                       // fields that another hook had set before
  Latency latency = {};                              // a late one: until its deadline
  std::string last_error = {};                       // of a late or failed one; empty: none yet
  Time last_error_time = {};
};

class HookStatistics {
 public:
  // Longer errors are cut.
  static constexpr std::size_t kMostText = 256;

  // Both outlive it.
  HookStatistics(const Clock& clock, metric::HostMetrics& metrics) : clock_(clock), metrics_(metrics) {}

  void note(const std::string& plugin, const std::string& name, std::uint32_t stage, const HookReply& reply);
  void note_conflict(const std::string& plugin, const std::string& name, std::uint32_t stage);

  // By plugin, name and stage.
  std::vector<HookUse> all() const;

 private:
  struct Entry {
    HookUse use;
    metric::HostHistogram seconds;
  };
  Entry& entry_of(const std::string& plugin, const std::string& name, std::uint32_t stage);  // [locked]

  const Clock& clock_;
  metric::HostMetrics& metrics_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::tuple<std::string, std::string, std::uint32_t>, Entry> entries_;
};

}  // namespace koord::host
