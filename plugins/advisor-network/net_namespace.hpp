// SPDX-License-Identifier: Apache-2.0
// Reads network namespaces through /proc, by one process in each. This needs no setns(2) and no privilege except to see
// the process. No file is kept open, because an open file of net/ would keep a namespace alive after its pod.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/advisor-network/network.hpp"

namespace koord::network {

// Identity of a namespace. The kernel creates the files of net/ once for each namespace, so their inode identifies it,
// even without permission to read the link ns/net.
struct NamespaceId {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const NamespaceId&) const = default;
};

struct Namespace {
  NamespaceId id;
  Interfaces interfaces;
  Tcp tcp;  // unknown unless requested
};

// Selects what is read. For TCP's counters the kernel adds up all CPUs at each read, which takes ten times as long as
// the interfaces.
enum class Read { interfaces, interfaces_and_tcp };

// Returns nullopt if the process has ended.
std::optional<NamespaceId> namespace_of(const std::string& proc_root, pid_t pid);

// Reads the namespace of one process, even if its pid is reused meanwhile. Error no_such_file_or_directory: the process
// has ended.
Result<Namespace> read_namespace(const std::string& proc_root, pid_t pid, Read what);

// Returns a process of the cgroup or of a descendant. nullopt: it has no process, or no process in the reader's pid
// namespace.
std::optional<pid_t> process_in(const std::string& cgroup_root, std::string_view cgroup);

// Returns whether the interface is a network card, real or virtual, and not a bridge, veth, VLAN or tunnel.
bool is_card(const std::string& sys_root, const std::string& interface);

}  // namespace koord::network
