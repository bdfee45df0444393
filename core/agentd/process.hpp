// SPDX-License-Identifier: Apache-2.0
// The agent as a process: limits to set before anything is opened, figures of its own use.
#pragma once

#include <cstdint>
#include <string>

namespace koord::agentd {

// Raises the soft limit of open files to the hard one (a descriptor is kept for every cgroup file), ignores SIGPIPE (a
// client that hangs up is an error of its connection), and has malloc keep little of what is freed. Before any thread.
void prepare_process();

// Returns to the kernel what only the start needed: free parts of the heap, and the pages of the program and its
// libraries. The kernel keeps those pages in its cache and maps each again on the next access. [any]
void release_startup_memory();

struct ProcessUsage {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;
  std::uint64_t open_files = 0;
  std::uint64_t threads = 0;
};

// Returns the resource usage of this process; zeros for values missing in /proc.
ProcessUsage process_usage();

// How many descriptors this process may have open.
std::size_t open_files_limit();

}  // namespace koord::agentd
