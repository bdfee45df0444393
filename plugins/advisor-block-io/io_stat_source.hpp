// SPDX-License-Identifier: Apache-2.0
// IoStatSource: reads the I/O statistics of a cgroup from the files of this kernel. Files are opened for each read,
// because reads are too rare to keep a thousand descriptors open. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/io_stat.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::block_io {

class IoStatSource {
 public:
  // Fails with std::errc::not_supported if the node has neither the io nor the blkio controller.
  static Result<IoStatSource> find(const NodeRoots& roots);

  cgroup::Version version() const { return version_; }

  // Returns nullopt if the cgroup is gone or the controller is not enabled for it. The list is empty if the cgroup did
  // no I/O or this kernel does not count it.
  Result<std::optional<std::vector<cgroup::IoStat>>> read(std::string_view cgroup) const;

 private:
  IoStatSource(cgroup::Layout layout, cgroup::Version version) : layout_(std::move(layout)), version_(version) {}

  cgroup::Layout layout_;
  cgroup::Version version_;
};

}  // namespace koord::block_io
