// SPDX-License-Identifier: Apache-2.0
// IoStatSource: the I/O statistics of a cgroup, from whichever files this kernel keeps them in. Files are opened for
// each read: they are read too seldom to hold a thousand descriptors for. [any thread]
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
  // std::errc::not_supported: the node has neither the io nor the blkio controller.
  static Result<IoStatSource> find(const NodeRoots& roots);

  cgroup::Version version() const { return version_; }

  // Nothing: the cgroup is gone, or the controller is not switched on for it. Without devices when it did no I/O, or
  // when this kernel does not count it.
  Result<std::optional<std::vector<cgroup::IoStat>>> read(std::string_view cgroup) const;

 private:
  IoStatSource(cgroup::Layout layout, cgroup::Version version) : layout_(std::move(layout)), version_(version) {}

  cgroup::Layout layout_;
  cgroup::Version version_;
};

}  // namespace koord::block_io
