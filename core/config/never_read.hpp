// SPDX-License-Identifier: Apache-2.0
// Files below proc that koord.fs/1 reads for no third party's plugin, whatever plugins.settings.ID.files says: memory,
// files and secrets of processes, and addresses and secrets of the kernel. [any thread]
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/parse.hpp"

namespace koord::config {

inline constexpr std::array<std::string_view, 37> kNeverReadProc = {
    "attr",        "auxv",          "clear_refs",  "cwd",        "environ",    "exe",   "fd",           "fdinfo",
    "iomem",       "ioports",       "kallsyms",    "kcore",      "key-users",  "keys",  "kmem",         "kmsg",
    "kpagecgroup", "kpagecount",    "kpageflags",  "map_files",  "maps",       "mem",   "modules",      "ns",
    "numa_maps",   "pagemap",       "personality", "root",       "self",       "smaps", "smaps_rollup", "stack",
    "syscall",     "sysrq-trigger", "thread-self", "timer_list", "vmallocinfo"};

// Settings of the kernel that are secrets, even if every user may read their files.
inline constexpr std::array<std::string_view, 2> kNeverReadProcSys = {"stable_secret", "tcp_fastopen_key"};

// `path`: below proc, a file or a pattern: "1/environ", "*/environ". True if one of its parts is such a name.
inline bool is_never_read_of_proc(std::string_view path) {
  const bool is_kernel_setting = path.substr(0, path.find('/')) == "sys";
  const auto is_named = [&](std::string_view part) {
    return is_kernel_setting
               ? std::find(kNeverReadProcSys.begin(), kNeverReadProcSys.end(), part) != kNeverReadProcSys.end()
               : std::find(kNeverReadProc.begin(), kNeverReadProc.end(), part) != kNeverReadProc.end();
  };
  while (const auto part = next_field(path, '/'))
    if (is_named(*part)) return true;
  return false;
}

}  // namespace koord::config
