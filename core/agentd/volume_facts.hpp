// SPDX-License-Identifier: Apache-2.0
// VolumeFacts: publishes the directory name that the kubelet uses for each volume of each pod, as "host/pod_volumes" in
// koord.kv/1. Block I/O limits for a pod's volume need these names. [loop thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/event/loop.hpp"
#include "core/event/timer.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"

namespace koord::agentd {

// Returns {"POD UID": {"VOLUME OF THE POD": "NAME OF ITS DIRECTORY"}}. The directory is in the kubelet's
// pods/UID/volumes/kubernetes.io~csi. Claims with an unknown volume and pods without volumes are left out.
std::string pod_volumes_json(const state::Snapshot& snapshot);

class VolumeFacts {
 public:
  VolumeFacts(const state::Hub& hub, store::Store& store) : hub_(hub), store_(store) {}

  // Checks for changes now and periodically, until destroyed or stopped.
  void start(event::Loop& loop);
  void stop() { timer_.reset(); }
  void poll();

 private:
  const state::Hub& hub_;
  store::Store& store_;
  std::uint64_t seen_pods_ = 0;
  state::StringMap seen_volumes_;
  std::string reported_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
