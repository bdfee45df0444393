// SPDX-License-Identifier: Apache-2.0
// Values of small files of /proc and /sys that a kernel, an architecture or a device may lack: files that are missing,
// unreadable or of another form are nothing. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::node {

// Without spaces and newlines around.
std::optional<std::string> read_text(const std::string& path);
std::optional<std::int64_t> read_number(const std::string& path);
// A list of CPUs or memory nodes, "0-3,8"; an empty file is the empty set.
std::optional<CpuSet> read_set(const std::string& path);

// Names in the directory, sorted; none when there is no such directory.
std::vector<std::string> names_in(const std::string& directory);
// The last part of what a symbolic link points to: "../../devices/pci0000:00/0000:00:01.0" is "0000:00:01.0".
std::optional<std::string> link_name(const std::string& path);
bool exists(const std::string& path);

}  // namespace koord::node
