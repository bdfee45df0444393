// SPDX-License-Identifier: Apache-2.0
#include "core/service/plugin_snapshots.hpp"

namespace koord::service {

const koord_snapshot* PluginSnapshots::acquire(SnapshotViewPtr view) {
  const auto* snapshot = reinterpret_cast<const koord_snapshot*>(view.get());
  std::lock_guard lock(mutex_);
  Hold& hold = holds_[snapshot];
  hold.view = std::move(view);
  ++hold.count;
  return snapshot;
}

bool PluginSnapshots::release(const koord_snapshot* snapshot) {
  SnapshotViewPtr last;  // freed outside of the lock
  std::lock_guard lock(mutex_);
  auto hold = holds_.find(snapshot);
  if (hold == holds_.end()) return false;
  if (--hold->second.count > 0) return true;
  last = std::move(hold->second.view);
  holds_.erase(hold);
  return true;
}

std::size_t PluginSnapshots::held() const {
  std::lock_guard lock(mutex_);
  std::size_t held = 0;
  for (const auto& [snapshot, hold] : holds_) held += hold.count;
  return held;
}

}  // namespace koord::service
