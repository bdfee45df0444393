// SPDX-License-Identifier: Apache-2.0
// Latencies of requests to block devices as plain values: one histogram for reads and one for writes, and totals for
// each device. Pure: no clock, no files, no kernel. [any thread]
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "plugins/shared/latency/histogram.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::block_latency {

// Numbered as in the programs (bpf/block_latency/block_latency.h). Operations before `other` have histograms.
enum class Operation { read, write, other };
inline constexpr std::array kOperations = {Operation::read, Operation::write, Operation::other};
inline constexpr std::array kDirections = {Operation::read, Operation::write};
std::string_view name_of(Operation operation);

struct OperationTotals {
  std::uint64_t requests = 0, bytes = 0;
  std::uint64_t device_ns = 0;  // time from issue to completion
  std::uint64_t queue_ns = 0;   // time from allocation to issue

  OperationTotals& operator+=(const OperationTotals& other);
  bool operator==(const OperationTotals&) const = default;
};

// A disk by the kernel's number.
struct Device {
  std::uint32_t number = 0;  // major << 20 | minor

  auto operator<=>(const Device&) const = default;
};
// Returns a text like "254:0".
std::string name_of(Device device);

struct DeviceTotals {
  std::array<OperationTotals, kOperations.size()> by_operation;

  const OperationTotals& of(Operation operation) const { return by_operation[static_cast<std::size_t>(operation)]; }
  OperationTotals& of(Operation operation) { return by_operation[static_cast<std::size_t>(operation)]; }
  bool operator==(const DeviceTotals&) const = default;
};

struct Requests {
  std::array<latency::Histogram, kDirections.size()> latency;
  std::map<Device, DeviceTotals> devices;

  const latency::Histogram& latency_of(Operation direction) const {
    return latency[static_cast<std::size_t>(direction)];
  }
  latency::Histogram& latency_of(Operation direction) { return latency[static_cast<std::size_t>(direction)]; }
  OperationTotals all() const;
  bool empty() const;
  Requests& operator+=(const Requests& other);
  bool operator==(const Requests&) const = default;
};

// Returns the difference between two readings of one running total. If a device's totals decreased, they were reset,
// and the whole new totals are returned.
Requests added(const Requests& before, const Requests& now);

using Reading = latency::Reading<Requests>;
using Windows = latency::Windows<Requests>;

}  // namespace koord::block_latency
