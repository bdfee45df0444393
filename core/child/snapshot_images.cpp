// SPDX-License-Identifier: Apache-2.0
#include "core/child/snapshot_images.hpp"

#include <utility>

#include "core/child/image.hpp"
#include "core/child/memory_file.hpp"

namespace koord::child {

Result<std::shared_ptr<const SnapshotImages::Shared>> SnapshotImages::of(service::SnapshotViewPtr view) {
  std::lock_guard lock(mutex_);
  if (!newest_ || newest_->view != view) {
    auto made = std::make_shared<Shared>();
    made->fd = TRY(memory_with(image_of(*view), true));
    made->serial = ++last_serial_;
    made->view = std::move(view);
    newest_ = std::move(made);
  }
  return newest_;
}

}  // namespace koord::child
