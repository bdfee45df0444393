// SPDX-License-Identifier: Apache-2.0
// Network namespaces as /proc shows them, through one of the processes in each: no setns(2), no privilege but to see
// the process. Nothing is kept open: an open file of net/ would keep a namespace alive after its pod.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/advisor-network/network.hpp"

namespace koord::network {

// Identity of a namespace. The kernel makes the files of net/ once for each, so their inode identifies it, also for a
// reader without permission for the link ns/net.
struct NamespaceId {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const NamespaceId&) const = default;
};

struct Namespace {
  NamespaceId id;
  Interfaces interfaces;
  Tcp tcp;  // nothing known, unless asked for
};

// The kernel adds TCP's counters up over all CPUs for each reader, which takes ten times as long as the interfaces do.
enum class Read { interfaces, interfaces_and_tcp };

// Nothing when the process has ended.
std::optional<NamespaceId> namespace_of(const std::string& proc_root, pid_t pid);

// Reads one process, even if its number is reused meanwhile. An error with no_such_file_or_directory: it has ended.
Result<Namespace> read_namespace(const std::string& proc_root, pid_t pid, Read what);

// Returns a process of the cgroup or of one below it. Nothing: none, or not in the reader's pid namespace.
std::optional<pid_t> process_in(const std::string& cgroup_root, std::string_view cgroup);

// A network card, virtual or not, and no bridge, veth, VLAN or tunnel.
bool is_card(const std::string& sys_root, const std::string& interface);

}  // namespace koord::network
