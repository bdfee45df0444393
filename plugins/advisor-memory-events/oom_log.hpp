// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's log messages about processes killed for lack of memory. They name the victim, its cgroup, which
// may be gone already, and the limit that was hit. Pure: lines in, values out.
//
// The lines are those of oom_kill_process() and dump_oom_victim() in mm/oom_kill.c and of
// mem_cgroup_print_oom_meminfo() in mm/memcontrol.c, since Linux 4.20; "Task in … killed as a result of limit of …"
// before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace koord::memory_events {

struct OomKill {
  std::string cgroup;        // the victim's, "/kubepods/pod1/c1": from the root of the whole hierarchy
  std::string limit_cgroup;  // the cgroup that hit its limit; empty: the node had no memory left
  std::string process;       // its name as the log prints it
  std::int64_t pid = 0;      // 0: unknown
  std::optional<std::uint64_t> usage_bytes, limit_bytes;  // of limit_cgroup, when it was hit
};

class OomLog {
 public:
  // Reads one line of /dev/kmsg: "priority,sequence,time,flags;text". Returns nothing for other lines and for lines
  // written by processes. The first line of a kill counts, which comes before the kernel's own count.
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
  std::string group_;  // all of this cgroup are being killed
  std::int64_t first_pid_ = 0;
};

// The text that /dev/kmsg prints with \x2f for a byte that is not printable, and for a backslash.
std::string unescape(std::string_view text);

}  // namespace koord::memory_events
