// SPDX-License-Identifier: Apache-2.0
// How long threads were stalled for memory, as plain values: a histogram for each kind of stall. Pure: no clock, no
// files, no kernel. [any thread]
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "plugins/shared/latency/histogram.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::memory_latency {

// Numbered as in the programs (bpf/memory_latency/memory_latency.h).
enum class Kind { memcg_reclaim, direct_reclaim, compaction };
inline constexpr std::array kKinds = {Kind::memcg_reclaim, Kind::direct_reclaim, Kind::compaction};
std::string_view name_of(Kind kind);

struct Stalls {
  std::array<latency::Histogram, kKinds.size()> by_kind;

  const latency::Histogram& of(Kind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
  latency::Histogram& of(Kind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
  latency::Histogram all() const;
  bool empty() const;
  Stalls& operator+=(const Stalls& other);
  bool operator==(const Stalls&) const = default;
};

// Returns the difference between two readings of one running total.
Stalls added(const Stalls& before, const Stalls& now);

using Reading = latency::Reading<Stalls>;
using Windows = latency::Windows<Stalls>;

}  // namespace koord::memory_latency
