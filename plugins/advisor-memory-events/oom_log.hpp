// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's log messages about processes killed for lack of memory. They name the victim, its cgroup, which
// may be gone already, and the limit that was hit. Pure: lines in, values out.
//
// The lines come from oom_kill_process() and dump_oom_victim() in mm/oom_kill.c and from mem_cgroup_print_oom_meminfo()
// in mm/memcontrol.c since Linux 4.20. Older kernels write "Task in … killed as a result of limit of …".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace koord::memory_events {

struct OomKill {
  std::string cgroup;        // cgroup of the victim from the root of the whole hierarchy: "/kubepods/pod1/c1"
  std::string limit_cgroup;  // the cgroup that hit its limit; empty: the node had no memory left
  std::string process;       // its name as the log prints it
  std::int64_t pid = 0;      // 0: unknown
  std::optional<std::uint64_t> usage_bytes, limit_bytes;  // values of limit_cgroup at the time of the kill
};

class OomLog {
 public:
  // Parses one line of /dev/kmsg: "priority,sequence,time,flags;text". Returns nullopt for other lines and for lines
  // written by processes. The first line of a kill is used, which the kernel writes before it counts the kill.
  std::optional<OomKill> feed(std::string_view line);

 private:
  void begin();
  std::optional<OomKill> read_kill(std::string_view text);
  void read_usage(std::string_view text);
  void read_group(std::string_view text);
  std::optional<OomKill> one_of_the_group(std::string_view text);
  OomKill kill(std::string cgroup, std::string limit_cgroup) const;

  std::optional<std::uint64_t> usage_bytes_, limit_bytes_;
  std::string limit_cgroup_;
  std::string group_;  // all processes of this cgroup are being killed
  std::int64_t first_pid_ = 0;
};

// Decodes text of /dev/kmsg, which has \x2f for a byte that is not printable and for a backslash.
std::string unescape(std::string_view text);

}  // namespace koord::memory_events
