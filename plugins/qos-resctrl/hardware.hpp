// SPDX-License-Identifier: Apache-2.0
// Resources of the node's CPU that resctrl can divide, and the format of their shares. Pure. Source:
// Documentation/filesystems/resctrl.rst of Linux (before 6.16 Documentation/arch/x86/resctrl.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::rdt {

// The last-level caches. Each bit of a mask is a part of the cache ("way"). Groups may share bits.
struct Cache {
  std::uint64_t mask = 0;   // mask of all parts
  unsigned least_bits = 1;  // minimum number of bits of a group
  bool takes_gaps = false;  // whether the bits of a group may be apart (sparse_masks)
  std::vector<std::uint32_t> ids;

  bool operator==(const Cache&) const = default;
};

enum class BandwidthUnit {
  percent,    // Intel: throttling of requests, in steps
  eighths,    // AMD: eighths of GB/s
  megabytes,  // mounted with mba_MBps: MiB/s, maintained by software
};

struct Bandwidth {
  BandwidthUnit unit = BandwidthUnit::percent;
  std::int64_t least = 1, step = 1;
  std::int64_t unlimited = 100;  // the value that means no limit
  std::vector<std::uint32_t> ids;

  bool operator==(const Bandwidth&) const = default;
};

struct Hardware {
  std::optional<Cache> l3;
  std::optional<Bandwidth> bandwidth;
  unsigned closids = 0;  // maximum number of groups, including the default group

  bool operator==(const Hardware&) const = default;
};

// Returns the domain numbers in a line of schemata like "L3:0=7ff;1=7ff"; empty if the line is missing.
std::vector<std::uint32_t> domains_in(std::string_view schemata, std::string_view resource);
// Returns the largest value of that line, 0 if missing; `base`: 16 for masks.
std::uint64_t largest_in(std::string_view schemata, std::string_view resource, int base);

// Returns the parts of the cache from `begin` to `end` percent, rounded up to whole parts, and at least the minimum of
// a group. This is koordlet's formula, generalized to any set of parts. If a group's bits must be adjacent, returns the
// longest run of them.
std::uint64_t mask_of(const Cache& cache, std::int64_t begin_percent, std::int64_t end_percent);

// Returns a share of the memory bandwidth, rounded up to a value that the CPU supports; 100 is no limit.
// `domain_units`: the whole bandwidth of a cache's domain, for units other than percent.
std::int64_t bandwidth_of(const Bandwidth& bandwidth, std::int64_t percent, std::int64_t domain_units);

std::string hexadecimal(std::uint64_t mask);  // text like "7ff"

}  // namespace koord::rdt
