// SPDX-License-Identifier: Apache-2.0
// The events of every group: the configured ones, their codes from libpfm4, and those that this node can count. [any
// thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/counters/event_names.hpp"

namespace koord::performance {

// Names as libpfm4 writes them.
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

// An error: libpfm4 is not there (std::errc::no_such_file_or_directory), or does not know a name.
Result<EncodedEvents> encode_events(const EventSettings& settings);

struct EventSet {
  static constexpr std::size_t kCycles = 0, kInstructions = 1;  // always there, and first

  std::vector<EventCode> events = {};
  std::optional<std::size_t> llc_misses = {};
  std::vector<std::size_t> further = {};

  // Events that this node cannot count together with those before them.
  struct LeftOut {
    std::string name, why;
  };
  std::vector<LeftOut> left_out = {};
};

// Opens them, on `cpu` for the cgroup that the descriptor `cgroup` is the directory of. Cycles and instructions must
// open; each other event stays when it opens in one group with those before it. An error is the kernel's.
Result<EventSet> choose_events(const EncodedEvents& encoded, int cgroup, unsigned cpu);

// Returns why perf_event_open(2) refused, for an operator; nothing if the node supports it and another problem is in
// the way (too many descriptors, counters reserved by another process).
std::optional<std::string> why_node_cannot(const Error& error);

}  // namespace koord::performance
