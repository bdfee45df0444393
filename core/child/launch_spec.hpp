// SPDX-License-Identifier: Apache-2.0
// LaunchSpec: how a child confines itself before it maps its plugin's file. The host sends it with the file's
// descriptor; the child does nothing before. A step of it that fails ends the start. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/linux_capability.hpp"
#include "core/base/network_families.hpp"
#include "core/child/wire.hpp"

namespace koord::child {

struct LaunchSpec {
  CapabilityMask capabilities = 0;  // that it keeps, of those that the agent has
  NetworkMask network = 0;          // kinds of sockets that it may make
  std::uint32_t uid = 0;            // its user and group; 0: those of the agent
  std::uint32_t landlock_abi = 0;   // 0: no Landlock
  std::uint64_t memory_bytes = 0;   // of data, mapped privately; 0: no limit
  std::uint64_t processes = 0;      // processes and threads of its user, if that is its own; 0: no limit
  std::uint64_t file_bytes = 0;     // of one file that it writes; 0: no limit
  std::string state_directory;      // its working directory, the only one that it may write to; empty: it has none
  std::vector<std::string> readable,
      writable;  // files and directories, in addition to those of every program; for Landlock

  void pack(Packer& out) const;
  static LaunchSpec unpack(Unpacker& in);
};

}  // namespace koord::child
