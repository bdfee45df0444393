// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/strategy_watch.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/agentd/pod_subjects.hpp"
#include "core/base/parse.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category strategy_log{"qos"};
constexpr Duration kStrategyPeriod = std::chrono::seconds(1);

metric::Labels labels_of(const knob::Subject& pod) {
  return {{"pod_uid", pod.pod_uid}, {"pod_name", pod.pod_name}, {"pod_namespace", pod.pod_namespace}};
}

std::vector<std::string> ids_of(const std::vector<host::PluginStatus>& plugins) {
  std::vector<std::string> ids;
  for (const host::PluginStatus& plugin : plugins) ids.push_back(plugin.id);
  return ids;
}

}  // namespace

StrategyWatch::StrategyWatch(const Services& services, std::string node_name)
    : services_(services), node_name_(std::move(node_name)) {}

StrategyWatch::~StrategyWatch() { stop(); }

void StrategyWatch::start() {
  // The governor outlives this object, and calls from any thread.
  services_.governor.on_release(
      [this, &loop = services_.loop, alive = std::weak_ptr(alive_)](std::vector<knob::Release> releases) {
        loop.post([this, alive, releases = std::move(releases)] {
          if (!alive.expired()) report_releases(releases);
        });
      });
  const auto take = [this](const state::SnapshotPtr& snapshot) {
    services_.governor.set_subjects(std::make_shared<const knob::Subjects>(subjects_of(*snapshot)));
  };
  take(services_.hub.current());
  subscription_ = services_.hub.subscribe([take](std::uint32_t changed, const state::SnapshotPtr& snapshot) {
    if ((changed & (state::kPods | state::kNode)) != 0) take(snapshot);
  });
  timer_ = services_.loop.every(kStrategyPeriod, [this] { poll(); });
}

void StrategyWatch::stop() {
  alive_.reset();
  timer_.reset();
  cluster_events_.reset();
  if (subscription_ != 0) services_.hub.remove(std::exchange(subscription_, 0));
}

void StrategyWatch::poll() {
  check_annotations();
  check_archive();
}

void StrategyWatch::check_annotations() {
  const state::SnapshotPtr snapshot = services_.hub.current();
  if (std::exchange(seen_pods_, snapshot->versions.pods) == snapshot->versions.pods) return;
  const bool is_any = std::any_of(snapshot->pods.begin(), snapshot->pods.end(), [](const state::Pod& pod) {
    return pod.annotations.contains(decision::kHandsOffAnnotation);
  });
  const std::vector<std::string> problems =
      is_any ? hands_off_problems(*snapshot, ids_of(services_.plugins())) : std::vector<std::string>();
  for (const std::string& problem : annotation_problems_.begun(problems))
    log::warn(strategy_log, "{}, ignoring", problem);
}

void StrategyWatch::check_archive() {
  const std::optional<decision::DecisionArchive::Status> status = services_.governor.log().archive();
  if (!status) return;
  using Change = ProblemTracker::Change;
  if (archive_problems_.update("file", status->set_aside_note) == Change::begun)
    log::warn(strategy_log, "{}", status->set_aside_note);
  const Change change = archive_problems_.update("disk", status->problem);
  if (change == Change::over) log::info(strategy_log, "decisions are kept on disk again");
  if (change == Change::begun) log::warn(strategy_log, "{}; decisions are kept in memory only", status->problem);
}

void StrategyWatch::report_releases(const std::vector<knob::Release>& releases) {
  for (ReleaseStory& story : stories_of(releases)) {
    services_.events.add({0, services_.clock.now(), {}, labels_of(story.pod), story.what, story.why});
    record_event({{"v1", "Pod", story.pod.pod_namespace, story.pod.pod_name, story.pod.pod_uid},
                  false,
                  "QoSKnobsRestored",
                  story.what + ": " + story.why});
  }
}

void StrategyWatch::record_event(kube::EventInput input) {
  kube::Client* client = services_.client();
  if (client == nullptr) return;
  if (!cluster_events_)
    cluster_events_ = std::make_unique<kube::Events>(services_.loop, services_.clock, *client,
                                                     kube::EventAggregator::Source{"koordetector", node_name_});
  cluster_events_->record(std::move(input));
}

std::vector<std::string> hands_off_problems(const state::Snapshot& snapshot, const std::vector<std::string>& plugins) {
  std::vector<std::string> problems;
  for (const state::Pod& pod : snapshot.pods) {
    const auto annotation = pod.annotations.find(decision::kHandsOffAnnotation);
    if (annotation == pod.annotations.end()) continue;
    for (const std::string& name : knob::unknown_names(decision::parse_hands_off(annotation->second), plugins))
      problems.push_back(
          "pod " + state::full_name(pod) + ": " + std::string(decision::kHandsOffAnnotation) + " names '" + name +
          "', which is neither a knob nor a strategy; expected \"true\", \"false\", or knobs and strategies separated by commas");
  }
  return problems;
}

std::vector<ReleaseStory> stories_of(const std::vector<knob::Release>& releases) {
  // Released knobs by pod, plugin and reason.
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<const knob::Release*, std::set<std::string>>>
      pods;
  for (const knob::Release& release : releases) {
    if (release.subject.pod_uid.empty()) continue;
    auto& [first, knobs] = pods[{release.subject.pod_uid, release.plugin, release.why}];
    if (first == nullptr) first = &release;
    knobs.insert(release.knob);
  }
  std::vector<ReleaseStory> stories;
  for (const auto& [key, of_pod] : pods) {
    const auto& [release, knobs] = of_pod;
    const std::string names = join({knobs.begin(), knobs.end()}, ", ");
    stories.push_back(
        {release->subject,
         "reverted knobs set by " + (release->plugin.empty() ? "a strategy" : release->plugin) + ": " + names,
         release->why});
  }
  return stories;
}

}  // namespace koord::agentd
