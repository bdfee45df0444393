// SPDX-License-Identifier: Apache-2.0
// Resources of the node's CPU that resctrl can divide, and the text of their shares. Pure. Source:
// Documentation/filesystems/resctrl.rst of Linux (before 6.16 Documentation/arch/x86/resctrl.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::rdt {

// The last-level caches. Each bit of a mask is a part of the cache ("way"); groups may share bits.
struct Cache {
  std::uint64_t mask = 0;   // of all parts
  unsigned least_bits = 1;  // that a group has
  bool takes_gaps = false;  // may the bits of a group be apart? (sparse_masks)
  std::vector<std::uint32_t> ids;

  bool operator==(const Cache&) const = default;
};

enum class BandwidthUnit {
  percent,    // Intel: how much requests are slowed down, in steps
  eighths,    // AMD: eighths of GB/s
  megabytes,  // mounted with mba_MBps: MiB/s, which software keeps
};

struct Bandwidth {
  BandwidthUnit unit = BandwidthUnit::percent;
  std::int64_t least = 1, step = 1;
  std::int64_t unlimited = 100;  // the value for no limit
  std::vector<std::uint32_t> ids;

  bool operator==(const Bandwidth&) const = default;
};

struct Hardware {
  std::optional<Cache> l3;
  std::optional<Bandwidth> bandwidth;
  unsigned closids = 0;  // groups that there can be, that of all others included

  bool operator==(const Hardware&) const = default;
};

// The numbers of the domains in a line of schemata: "L3:0=7ff;1=7ff". Empty: there is no such line.
std::vector<std::uint32_t> domains_in(std::string_view schemata, std::string_view resource);
// The largest value of that line, 0 if missing; `base`: 16 for masks.
std::uint64_t largest_in(std::string_view schemata, std::string_view resource, int base);

// The parts of the cache from `begin` to `end` percent, rounded up to whole parts, and never fewer than the minimum of
// a group: koordlet's formula, for any set of parts. If a group's bits must be adjacent: the longest run of them.
std::uint64_t mask_of(const Cache& cache, std::int64_t begin_percent, std::int64_t end_percent);

// A share of the memory bandwidth; 100 is no limit. `domain_units`: all that a cache's domain has, in the unit, where
// that is not percent. Rounded up to what the CPU takes.
std::int64_t bandwidth_of(const Bandwidth& bandwidth, std::int64_t percent, std::int64_t domain_units);

std::string hexadecimal(std::uint64_t mask);  // "7ff"

}  // namespace koord::rdt
