// SPDX-License-Identifier: Apache-2.0
// The snapshots that one plugin has acquired and not yet released. A pointer from a plugin is looked up, never
// trusted: releasing twice does no harm. [any thread]
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "core/service/snapshot_view.hpp"

namespace koord::service {

class PluginSnapshots {
 public:
  const koord_snapshot* acquire(SnapshotViewPtr view);
  // False when the plugin does not hold it.
  bool release(const koord_snapshot* snapshot);
  std::size_t held() const;

 private:
  struct Hold {
    SnapshotViewPtr view;
    std::size_t count = 0;
  };

  mutable std::mutex mutex_;
  std::unordered_map<const koord_snapshot*, Hold> holds_;
};

// The host's view of a plugin's handle.
inline const SnapshotView& view_of(const koord_snapshot* snapshot) {
  return *reinterpret_cast<const SnapshotView*>(snapshot);
}

}  // namespace koord::service
