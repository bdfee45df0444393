// SPDX-License-Identifier: Apache-2.0
// VolumeFacts: keeps in koord.kv/1, as "host/pod_volumes", under which name the kubelet keeps each volume of each pod,
// which limits of block I/O for a pod's volume need. [loop thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/event/loop.hpp"
#include "core/event/timer.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"

namespace koord::agentd {

// {"POD UID": {"VOLUME OF THE POD": "NAME OF ITS DIRECTORY"}}, the directory being that in the kubelet's
// pods/UID/volumes/kubernetes.io~csi. A claim with an unknown volume is left out, and so is a pod without any.
std::string pod_volumes_json(const state::Snapshot& snapshot);

class VolumeFacts {
 public:
  VolumeFacts(const state::Hub& hub, store::Store& store) : hub_(hub), store_(store) {}

  // Looks now and again until destroyed, or stopped.
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
