// SPDX-License-Identifier: Apache-2.0
// State shared by all plugins of one host. The host makes it once, before the first PluginContext, and it outlives them
// all. Everything in it may be used from any thread. Its owner also connects the end of subjects to the registry and to
// the verdicts, and ends those verdicts in time that were not posted again:
//   hub.on_subject_end([&](std::uint64_t handle) { metrics.end_subject(handle); });
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/reader.hpp"
#include "core/metric/registry.hpp"
#include "core/service/capability_board.hpp"
#include "core/service/event_log.hpp"
#include "core/service/plugin_presence.hpp"
#include "core/service/refusal_log.hpp"
#include "core/service/snapshot_view.hpp"
#include "core/service/store_feed.hpp"
#include "core/service/verdict_list.hpp"
#include "core/state/hub.hpp"
#include "core/verdict/store.hpp"

namespace koord::service {

struct SharedServices {
  const Clock& clock;
  NodeRoots roots;
  metric::Registry& metrics;  // its observer is `feed`
  StoreFeed& feed;            // the way into the metric cache and, with series ids, out of it
  state::Hub& hub;
  cgroup::Reader& cgroups;
  CapabilityBoard& capabilities;
  SnapshotViews views = {};
  PluginPresence presence = {};
  EventLog events = {};
  RefusalLog refusals = {};
  verdict::Store verdicts = {};
  VerdictLists verdict_lists = {};
  // A plugin read a cgroup and found it gone: the state of the node is older than the node. [any thread]
  std::function<void()> on_cgroup_gone = {};
  // The base of a knob as the governor takes it, by the knob's name and its cgroup; empty: no governor. [any thread]
  std::function<Result<std::string>(std::string_view knob, std::string_view cgroup_dir)> knob_base = {};
};

}  // namespace koord::service
