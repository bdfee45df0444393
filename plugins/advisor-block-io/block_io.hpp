// SPDX-License-Identifier: Apache-2.0
// Block I/O of one pod or container as rows of running totals. Each of the first devices that it used has a row, and
// all other devices share one row, because a machine with a hundred disks would otherwise have four hundred series for
// each container. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/cgroup/io_stat.hpp"

namespace koord::block_io {

struct DeviceNumber {
  std::uint32_t major = 0, minor = 0;
  auto operator<=>(const DeviceNumber&) const = default;
};

// Bytes read and written, operations read and written; cgroup::kAbsent: unknown.
inline constexpr std::size_t kReadBytes = 0, kWriteBytes = 1, kReads = 2, kWrites = 3, kCounters = 4;
using Counters = std::array<std::int64_t, kCounters>;

struct Row {
  std::optional<DeviceNumber> device;  // nullopt: all other devices together
  Counters totals;
};

class DeviceTotals {
 public:
  explicit DeviceTotals(std::size_t own_rows) : own_rows_(own_rows) {}

  // Returns the rows to send now. A device without I/O has no row, whether it is a disk, loop or ram device.
  std::vector<Row> update(std::span<const cgroup::IoStat> stats);

 private:
  bool has_own_row(DeviceNumber device);
  void add_to_others(DeviceNumber device, const Counters& now);

  std::size_t own_rows_;
  std::vector<DeviceNumber> own_;
  std::map<DeviceNumber, Counters> last_of_others_;
  Counters others_{};
};

}  // namespace koord::block_io
