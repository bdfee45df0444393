// SPDX-License-Identifier: Apache-2.0
// The processes of a container for knobs of processes. A process is held by the descriptor of its directory in /proc:
// a write through it reaches this process or none, whatever its number has become. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/process_texts.hpp"

namespace koord::knob {

struct OpenProcess {
  ProcessId id;
  UniqueFd directory;
};

// nullopt: it has ended.
std::optional<OpenProcess> open_process(const std::string& proc_root, std::int32_t pid);
// Returns whether the error is that of a process or thread that has ended.
bool is_ended(const Error& error);

// Those of the cgroup and of the cgroups inside, by number. std::errc::no_such_device: the cgroup has ended or has no
// process. std::errc::not_supported: its processes are in another PID namespace. std::errc::argument_list_too_long:
// more than kMostProcesses.
inline constexpr std::size_t kMostProcesses = 16384;
Result<std::vector<std::int32_t>> processes_in(const cgroup::Layout& layout, std::string_view cgroup_dir);

// The inode of the cgroup; 0: it has ended.
std::uint64_t cgroup_inode(const cgroup::Layout& layout, std::string_view cgroup_dir);

}  // namespace koord::knob
