// SPDX-License-Identifier: Apache-2.0
// Usage in the form of the cluster's objects: a ResourceMap. Plain values in whole milli-cores and bytes, always
// rounded down. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/amounts.hpp"

namespace koord::report {

// Usage of one GPU.
struct DeviceUsage {
  std::string uuid;
  std::int32_t minor = 0;
  bool healthy = false;  // false if unknown
  std::int64_t core_percent = 0;
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_percent = std::nullopt;

  bool operator==(const DeviceUsage&) const = default;
};

using predict::Amounts;

// CPU and memory are both known or both unknown, because readers take a missing resource in a map for 0.
struct Usage {
  std::optional<Amounts> amounts = std::nullopt;
  std::vector<DeviceUsage> devices = {};  // sorted by minor number

  bool operator==(const Usage&) const = default;
};

// Converts a mean or a sample in cores to thousandths.
std::int64_t milli_of(double cores);
// Converts bytes or percents.
std::int64_t whole_of(double value);

}  // namespace koord::report
