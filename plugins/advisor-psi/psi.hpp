// SPDX-License-Identifier: Apache-2.0
// Pressure stall information of the node or of one cgroup: the time for which some, or all, of its busy threads were
// stalled for lack of CPU, memory or I/O. Pure: values in, values out. For the meaning of the numbers see
// Documentation/accounting/psi.rst of the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/counter_rate.hpp"

namespace koord::psi {

enum class Resource { cpu, memory, io };
inline constexpr std::array kResources = {Resource::cpu, Resource::memory, Resource::io};

std::string_view label_of(Resource resource);      // "cpu", "mem" or "io": koordlet's values of psi_resource
std::string_view file_of(Resource resource);       // the logical cgroup file: "cpu.pressure"
std::string_view node_file_of(Resource resource);  // below /proc: "pressure/cpu"

// The kernel's averaging windows in seconds: values of psi_precision.
inline constexpr std::array<std::int64_t, 3> kPrecisions = {10, 60, 300};

// The keys of a logical pressure file, in the order of pressure_of().
inline constexpr std::array<std::string_view, 8> kKeys = {"some_avg10", "some_avg60", "some_avg300", "some_total_us",
                                                          "full_avg10", "full_avg60", "full_avg300", "full_total_us"};

// One line of a pressure file. Unknown values are nullopt.
struct Stall {
  std::array<std::optional<double>, kPrecisions.size()> percent;  // percentage of the time, 0 to 100
  std::optional<std::int64_t> total_us;                           // stalled since the creation of the cgroup

  bool is_known() const { return total_us.has_value(); }
};

struct Pressure {
  Stall some, full;
};

Pressure pressure_of(std::span<const std::int64_t, kKeys.size()> values);

// Parses a pressure file in the format of /proc.
Pressure parse_pressure(std::string_view text);

// Computes the share of time (0 to 1) that was stalled between two reads, from a running total.
class StalledRatio {
 public:
  // Returns nullopt for the first read, after a gap of more than 200 s (20 periods) and after a reset.
  std::optional<double> update(std::int64_t total_us, std::uint64_t read_ns);

 private:
  static constexpr std::uint64_t kMaxGapNs = 200'000'000'000;
  CounterRate rate_{kMaxGapNs};
};

}  // namespace koord::psi
