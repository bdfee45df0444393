// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/volume_facts.hpp"

#include <boost/json.hpp>
#include <span>
#include "core/agentd/state_log.hpp"

namespace koord::agentd {
namespace {

namespace json = boost::json;

constexpr Duration kVolumePeriod = std::chrono::seconds(1);

// Returns the volume's directory; empty: unknown.
std::string directory_of(const state::PodVolume& volume, const state::Pod& pod, const state::StringMap& claims) {
  if (volume.claim.empty()) return volume.name;
  const auto claim = claims.find(pod.namespace_ + "/" + volume.claim);
  return claim == claims.end() ? "" : claim->second;
}

}  // namespace

std::string pod_volumes_json(const state::Snapshot& snapshot) {
  json::object pods;
  for (const state::Pod& pod : snapshot.pods) {
    json::object volumes;
    for (const state::PodVolume& volume : pod.volumes) {
      const std::string directory = directory_of(volume, pod, snapshot.volumes);
      if (!directory.empty()) volumes[volume.name] = directory;
    }
    if (!volumes.empty()) pods[pod.uid] = std::move(volumes);
  }
  return json::serialize(pods);
}

void VolumeFacts::start(event::Loop& loop) {
  poll();
  timer_ = loop.every(kVolumePeriod, [this] { poll(); });
}

// Polls, because claims have no version of their own and no subscriber is called for their changes.
void VolumeFacts::poll() {
  const state::SnapshotPtr snapshot = hub_.current();
  if (snapshot->versions.pods == seen_pods_ && snapshot->volumes == seen_volumes_) return;
  seen_pods_ = snapshot->versions.pods;
  seen_volumes_ = snapshot->volumes;
  std::string text = pod_volumes_json(*snapshot);
  if (text == reported_) return;
  if (auto put = store_.put("host/pod_volumes", std::as_bytes(std::span(text))); !put)
    log::warn(state_log, "plugins do not get the volumes of pods: {}", put.error().message());
  reported_ = std::move(text);
}

}  // namespace koord::agentd
