// SPDX-License-Identifier: Apache-2.0
// The node's files that this advisor reads each tick. They stay open.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::node_resource {

// A file that is opened once and read from its start each time. The text is valid until the next read.
class KeptFile {
 public:
  KeptFile() = default;
  static Result<KeptFile> open(const std::string& path);
  Result<std::string_view> read();

 private:
  std::string path_;
  UniqueFd fd_;
  std::vector<char> buffer_;
};

// Opens nodeN/meminfo of every NUMA node, by node id. Nodes of accelerators (listed in has_generic_initiator) without
// memory are left out.
Result<std::map<std::uint32_t, KeptFile>> open_numa_meminfo(const std::string& sys_root);

}  // namespace koord::node_resource
