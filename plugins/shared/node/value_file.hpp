// SPDX-License-Identifier: Apache-2.0
// Reads small files of /proc and /sys that a kernel, an architecture or a device may lack. Returns nullopt if a file is
// missing, unreadable or in a different format. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::node {

// Returns the text without surrounding spaces and newlines.
std::optional<std::string> read_text(const std::string& path);
std::optional<std::int64_t> read_number(const std::string& path);
// Parses a list of CPUs or memory nodes, "0-3,8"; an empty file is the empty set.
std::optional<CpuSet> read_set(const std::string& path);

// Returns the names in the directory, sorted; empty if the directory does not exist.
std::vector<std::string> names_in(const std::string& directory);
// Returns the last part of a symbolic link's target: "0000:00:01.0" for "../../devices/pci0000:00/0000:00:01.0".
std::optional<std::string> link_name(const std::string& path);
bool exists(const std::string& path);

}  // namespace koord::node
