// SPDX-License-Identifier: Apache-2.0
// The events of every group. The names come from the configuration, their codes from libpfm4. The events that this node
// can count are selected. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/counters/event_names.hpp"

namespace koord::performance {

// Event names in the spelling of libpfm4.
struct EventSettings {
  std::string cycles = "PERF_COUNT_HW_CPU_CYCLES";
  std::string instructions = "PERF_COUNT_HW_INSTRUCTIONS";
  std::string llc_misses = "PERF_COUNT_HW_CACHE_MISSES";  // empty: not counted
  std::vector<std::string> further = {};
};

struct EncodedEvents {
  EventCode cycles, instructions;
  std::optional<EventCode> llc_misses;
  std::vector<EventCode> further;
};

// Returns the codes. Fails if libpfm4 is missing (std::errc::no_such_file_or_directory) or does not know a name.
Result<EncodedEvents> encode_events(const EventSettings& settings);

struct EventSet {
  static constexpr std::size_t kCycles = 0, kInstructions = 1;  // always present, and first

  std::vector<EventCode> events = {};
  std::optional<std::size_t> llc_misses = {};
  std::vector<std::size_t> further = {};

  // An event that this node cannot count together with the events before it.
  struct LeftOut {
    std::string name, why;
  };
  std::vector<LeftOut> left_out = {};
};

// Selects the events by opening them on `cpu` for a cgroup (`cgroup`: descriptor of its directory). Cycles and
// instructions must open. Each other event is kept if it opens in one group with the events before it. An error is the
// kernel's error.
Result<EventSet> choose_events(const EncodedEvents& encoded, int cgroup, unsigned cpu);

// Returns why perf_event_open(2) refused, for an operator. Returns nullopt if the node supports the event but a
// different problem prevents it, such as too many descriptors, or counters reserved by a different process.
std::optional<std::string> why_node_cannot(const Error& error);

}  // namespace koord::performance
