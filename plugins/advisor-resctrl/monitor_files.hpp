// SPDX-License-Identifier: Apache-2.0
// Reads the monitoring files of resctrl as plain values. Writes nothing and creates no group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-resctrl/resctrl.hpp"

namespace koord::resctrl {

// Returns the features that this node can measure, or why it cannot.
Result<Features> find_features(const NodeRoots& roots);

// Values of one group in one L3 cache. nullopt: the hardware has no value now.
struct Reading {
  std::uint32_t cache = 0;
  std::optional<std::uint64_t> occupancy_bytes;
  std::optional<std::uint64_t> local_bytes, total_bytes;  // running totals since the creation of the group
};

// Returns one reading for each cache; empty for a missing group. The error names the file.
Result<std::vector<Reading>> read_group(const std::string& resctrl_root, const std::string& group,
                                        const Features& features);

}  // namespace koord::resctrl
