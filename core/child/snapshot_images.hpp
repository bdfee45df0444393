// SPDX-License-Identifier: Apache-2.0
// SnapshotImages: the newest snapshot of the state as an image in shared memory, made once for all children. [any
// thread]
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/service/snapshot_view.hpp"

namespace koord::child {

class SnapshotImages {
 public:
  struct Shared {
    std::uint64_t serial = 0;  // of each image another, from 1 on
    UniqueFd fd;
    service::SnapshotViewPtr view;
  };
  Result<std::shared_ptr<const Shared>> of(service::SnapshotViewPtr view);

 private:
  std::mutex mutex_;
  std::uint64_t last_serial_ = 0;
  std::shared_ptr<const Shared> newest_;
};

}  // namespace koord::child
