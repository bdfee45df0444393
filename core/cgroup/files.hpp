// SPDX-License-Identifier: Apache-2.0
// The table of logical cgroup files: one name for any kernel, with its files, names and units on v1 and v2. Values come
// out as int64 in the units of the key's name. Immutable: [any thread].
//
//   cpu.usage         usage_ns
//   cpu.stat          nr_periods nr_throttled throttled_ns nr_bursts burst_ns (bursts since Linux 5.15)
//   cpu.max           quota_us (-1: none) period_us
//   cpu.shares        shares
//   memory.usage      usage_bytes
//   memory.limit      limit_bytes (-1: none)
//   memory.stat       anon file shmem inactive_anon active_anon inactive_file active_file unevictable …
//                     (the names of v2; v1's hierarchical total_* behind them; bytes, but pg* and
//                     workingset_* events)
//   memory.peak       peak_bytes (v2 since Linux 5.19)
//   memory.swap       swap_bytes (subtree)
//   memory.events     max oom_kill; v2 only: low high oom oom_group_kill; v1 only: under_oom (0 or 1).
//                     On v2 events of the subtree. v1 has none of it: max counts the times that this
//                     cgroup's own limit was hit (failcnt: each attempt that failed, also one that then
//                     succeeded), oom_kill the processes killed that were in this very cgroup.
//   memory.events.local  the same keys of this very cgroup (v2 since Linux 5.2); on v1 as memory.events
//   memory.numa_stat  of node 0, 1, …, with all children, bytes:
//                     "anon N0" "file N0" "unevictable N0": the LRU lists, the same on v1 and v2: shmem and
//                     tmpfs count as anon. anon + unevictable is what remains of a node's memory when free,
//                     file LRU and reclaimable slab are taken off, less the kernel's own.
//                     "N0": hierarchical_anon on v1 (an LRU list), anon on v2 (without shmem)
//   pids.current      pids
//   cpu.pressure, memory.pressure, io.pressure
//                     some_avg10 some_avg60 some_avg300 (hundredths of a percent) some_total_us, full_…
//                     likewise. v1 only with a vendor's kernel (cpuacct); else from the unified tree of a
//                     hybrid node, if the cgroup is in it
//
// Statistics per device have a parser of their own: io_stat.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

// The value of a key that the kernel's file does not have (this time), or has as something else than a
// number.
inline constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

// How the text of a kernel file is laid out.
enum class Format {
  words,     // "max 100000": the values by position
  flat,      // lines "key value"
  numa,      // lines "counter N0=1 N1=2"
  pressure,  // lines "some avg10=0.00 … total=0"
};

// Conversion from the kernel's unit to the documented one.
enum class Conversion {
  none,
  micro_to_nano,
  pages_to_bytes,
  weight_to_shares,   // cpu.weight 1…10000 to cpu.shares 2…262144
  huge_is_unlimited,  // v1 memory limits: the largest page count means none
};

// A kernel file that holds (a part of) a logical file.
struct KernelFile {
  Controller controller;
  std::string_view name;
  Format format;
  // Some 10 µs of the kernel's time, several times what others cost: read less often than asked for.
  bool costly = false;
};

// One key of a logical file: the kernel file that holds it and its name there. For `words` the name is the position
// ("0"); for `numa` it is the line, or two of them to be added, and the key's last word is the word to look for.
struct KeySpec {
  std::string_view key;
  std::uint8_t file = 0;
  std::string_view kernel_key;
  Conversion conversion = Conversion::none;
};

// A logical file as one version of cgroups has it.
struct FileSpec {
  std::span<const KernelFile> files;
  std::span<const KeySpec> keys;

  // For numa "N0" stands for any node. nullopt for an unknown key.
  std::optional<KeySpec> find(std::string_view key) const;
};

struct LogicalFile {
  std::string_view name;
  FileSpec v1;
  FileSpec v2;

  const FileSpec& spec(Version version) const { return version == Version::v1 ? v1 : v2; }
};

std::span<const LogicalFile> logical_files();

// nullptr for an unknown name.
const LogicalFile* find_logical_file(std::string_view name);

}  // namespace koord::cgroup
