// SPDX-License-Identifier: Apache-2.0
#include "core/evict/eligibility.hpp"

#include <algorithm>
#include <vector>

#include "core/decision/hands_off.hpp"
#include "core/json/scanner.hpp"

namespace koord::evict {
namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kSource = "kubernetes.io/config.source";
constexpr std::string_view kPolicy = "koordinator.sh/eviction-policy";
constexpr std::string_view kEnabled = "koordinator.sh/eviction-enabled";

// The minimum priority of system pods: system-cluster-critical, system-node-critical.
constexpr std::int32_t kSystemPriority = 2'000'000'000;

// These features pick among all pods, by priority. All other features pick among best-effort pods, which agree to
// evictions by their class.
constexpr std::string_view kByPriority[] = {"CPUEvict", "MemoryEvict", "CPUAllocatableEvict", "MemoryAllocatableEvict"};

const std::string* value_of(const state::StringMap& map, std::string_view name) {
  auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

Result<std::vector<std::string>> read_policy(std::string_view annotation) {
  std::vector<std::string> features;
  JsonScanner text(annotation);
  const auto read_one = [&]() -> Result<void> {
    features.push_back(TRY(text.string()));
    return {};
  };
  TRY(text.array(read_one));
  TRY(text.end());
  return features;
}

std::string policy_against(std::string_view annotation, std::string_view feature) {
  const Result<std::vector<std::string>> features = read_policy(annotation);
  if (!features) return "its " + std::string(kPolicy) + " is no JSON list of texts, which allows nothing";
  if (std::find(features->begin(), features->end(), feature) != features->end()) return {};
  return "its " + std::string(kPolicy) + " does not name " + std::string(feature);
}

}  // namespace

std::string protection_of(const state::Pod& pod, std::string_view own_uid) {
  if (!own_uid.empty() && pod.uid == own_uid) return "it is the agent's own pod";
  if (has_ended(pod)) return "it has ended";
  if (value_of(pod.annotations, kMirror) != nullptr) return "it is a static pod";
  const std::string* source = value_of(pod.annotations, kSource);
  if (source != nullptr && *source != "api") return "it is a static pod";
  if (pod.priority >= kSystemPriority) return "it is critical for the system";
  if (pod.owner_kind == "DaemonSet") return "its DaemonSet would make it again at once, here";
  if (pod.name.empty() || pod.namespace_.empty()) return "it is not known in Kubernetes";
  const std::string* hands_off = value_of(pod.annotations, decision::kHandsOffAnnotation);
  if (hands_off != nullptr && decision::parse_hands_off(*hands_off).all)
    return "its " + std::string(decision::kHandsOffAnnotation) + " is true";
  return {};
}

std::string opt_out_of(const state::Pod& pod, std::string_view feature) {
  if (const std::string* policy = value_of(pod.annotations, kPolicy)) {
    std::string against = policy_against(*policy, feature);
    if (!against.empty()) return against;
  }
  const std::string* enabled = value_of(pod.labels, kEnabled);
  if (enabled != nullptr)
    return *enabled == "true" ? "" : "its label " + std::string(kEnabled) + " is '" + *enabled + "'";
  const bool by_priority = std::find(std::begin(kByPriority), std::end(kByPriority), feature) != std::end(kByPriority);
  if (!by_priority && pod.koord_qos == state::KoordQos::be) return {};
  return "it has no label " + std::string(kEnabled) + ": \"true\"" + (by_priority ? "" : ", and is no best-effort pod");
}

}  // namespace koord::evict
