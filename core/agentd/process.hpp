// SPDX-License-Identifier: Apache-2.0
// The agent as a process: limits to set before anything is opened, and its resource usage.
#pragma once

#include <cstdint>
#include <string>

namespace koord::agentd {

// Raises the soft limit of open files to the hard limit, because the agent keeps a descriptor for every cgroup file.
// Ignores SIGPIPE, so a client that disconnects is only an error of its connection. Makes malloc return freed memory.
// Must be called before any thread starts.
void prepare_process();

// Returns memory that only the start needed to the kernel: free parts of the heap, and the pages of the program and its
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

// Returns how many descriptors this process may have open.
std::size_t open_files_limit();

}  // namespace koord::agentd
