// SPDX-License-Identifier: Apache-2.0
// The snapshots that one plugin has acquired and not yet released. [any thread]
#pragma once

#include "core/service/held_views.hpp"
#include "core/service/snapshot_view.hpp"

namespace koord::service {

using PluginSnapshots = HeldViews<koord_snapshot, SnapshotView>;

// The host's view of a plugin's handle.
inline const SnapshotView& view_of(const koord_snapshot* snapshot) { return PluginSnapshots::view_of(snapshot); }

}  // namespace koord::service
