// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/stage.hpp"

#include <algorithm>
#include <charconv>

namespace koord::nri {
namespace {

constexpr std::array<std::string_view, kStages> kNames = {
    "Synchronize",         "RunPodSandbox",   "StopPodSandbox",     "RemovePodSandbox",    "CreateContainer",
    "PostCreateContainer", "StartContainer",  "PostStartContainer", "UpdateContainer",     "PostUpdateContainer",
    "StopContainer",       "RemoveContainer", "UpdatePodSandbox",   "PostUpdatePodSandbox"};

constexpr EventMask kOldestEvents = (EventMask{1} << static_cast<unsigned>(Stage::remove_container)) - 1;

struct Release {
  unsigned major = 0;
  unsigned minor = 0;

  auto operator<=>(const Release&) const = default;
};

// Reads "1.7.24", "v2.2.0" or "2.2.0-rc.1"; nullopt for any other text.
std::optional<Release> read_release(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Release release;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, release.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, release.minor);
  if (minor.ec != std::errc()) return std::nullopt;
  return release;
}

}  // namespace

std::string_view to_string(Stage stage) { return kNames[static_cast<std::size_t>(stage)]; }

std::optional<Stage> stage_of_method(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Stage>(found - kNames.begin());
}

std::optional<Stage> stage_of_event(std::int32_t number) {
  if (number < 1 || number >= static_cast<std::int32_t>(kStages)) return std::nullopt;
  return static_cast<Stage>(number);
}

// NRI 0.10 added UpdatePodSandbox and PostUpdatePodSandbox. Runtimes report their NRI version only since NRI 0.12.
// containerd has NRI 0.10 since containerd 2.2.
EventMask events_of(const Runtime& runtime) {
  const auto nri = read_release(runtime.nri_version);
  if (nri && *nri >= Release{0, 10}) return kAllEvents;
  const auto release = read_release(runtime.version);
  if (!nri && runtime.name == "containerd" && release && *release >= Release{2, 2}) return kAllEvents;
  return kOldestEvents;
}

}  // namespace koord::nri
