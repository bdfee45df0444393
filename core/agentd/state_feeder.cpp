// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/state_feeder.hpp"

#include <utility>

#include "core/agentd/state_log.hpp"
#include "core/api/pods_named.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/kube_root.hpp"
#include "core/state/pod_intake.hpp"
#include "core/state/topology.hpp"

namespace koord::agentd {
namespace {

constexpr Duration kClusterPoll = std::chrono::seconds(10);

state::FileSource::Options file_options(const config::StateSettings& settings, PodSource pods,
                                        const cgroup::Layout& layout) {
  return {pods == PodSource::file ? settings.file.pods : "", settings.file.node, settings.file.node_slo,
          cgroup::choose_kube_root(layout), layout};
}

bool wants_files(const config::StateSettings& settings, PodSource pods) {
  return pods == PodSource::file || !settings.file.node.empty() || !settings.file.node_slo.empty();
}

std::string age_of(Time then, Time now) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - then).count()) + " s";
}

}  // namespace

StateFeeder::StateFeeder(const Services& services, const config::Config& config)
    : services_(services),
      config_(config),
      choice_(choose_state(config_, kube::find_config(config_.cluster.kubeconfig))),
      pods_(choice_.pods),
      durations_(services_.metrics),
      cgroups_(services_.layout,
               {config_.state.cgroup.paths, pods_ == PodSource::cgroup, state::guess_runtime(config_.roots)},
               services_.hub),
      strand_(services_.workers, "state") {
  if (wants_files(config_.state, pods_))
    files_.emplace(file_options(config_.state, pods_, services_.layout), services_.hub);
}

StateFeeder::~StateFeeder() {
  if (subscription_ != 0) services_.hub.remove(subscription_);
}

void StateFeeder::start() {
  log::info(state_log, "pods are learnt from: {}", name_of(pods_));
  subscription_ = services_.hub.subscribe(
      [this](std::uint32_t changed, const state::SnapshotPtr& snapshot) { follow_annotations(changed, *snapshot); });
  publish_node();
  refresh();
  timer_ = services_.loop.every(config_.state.resync_period, [this] { refresh_soon(); });
  if (in_cluster()) start_cluster();
  if (!files_ || files_->watch_fd() < 0) return;
  if (auto watch = services_.loop.on_readable(files_->watch_fd(), [this] { refresh_soon(); }))
    file_watch_ = std::move(*watch);
}

void StateFeeder::stop() {
  if (const std::uint64_t subscription = std::exchange(subscription_, 0); subscription != 0)
    services_.hub.remove(subscription);
  file_watch_.reset();
  timer_.reset();
  cluster_timer_.reset();
  if (cluster_) cluster_->stop();
}

// Starts without a cluster if the cluster's configuration is missing or invalid, because it may be corrected later.
void StateFeeder::start_cluster() {
  if (!choice_.cluster) {
    log::warn(state_log, "{}; looking again every 10 s", choice_.no_cluster);
    services_.capabilities.set({{"apiserver", service::CapabilityState::absent, choice_.no_cluster, ""}});
    cluster_timer_ = services_.loop.every(kClusterPoll, [this] { find_cluster(); });
    return;
  }
  cluster_timer_.reset();
  cluster_ = std::make_unique<Cluster>(
      Cluster::Parts{services_.loop, services_.workers, services_.clock, services_.hub, services_.layout,
                     config_.node_name, services_.capabilities, services_.metrics, durations_, annotations_},
      *choice_.cluster, pods_, config_);
  export_cluster(services_.metrics, *cluster_);
  cluster_->start();
  running_ = cluster_.get();
}

void StateFeeder::find_cluster() {
  choice_ = choose_state(config_, kube::find_config(config_.cluster.kubeconfig));
  if (choice_.cluster) start_cluster();
}

void StateFeeder::keep_annotations(std::vector<std::string> keys) {
  keys.insert(keys.end(), config_.state.pod_annotations.begin(), config_.state.pod_annotations.end());
  annotations_.set(state::AnnotationKeys(std::move(keys)));
}

void StateFeeder::request() {
  refresh_soon();
  if (Cluster* cluster = running_) cluster->request();
}

void StateFeeder::refresh_soon() {
  if (requested_.exchange(true)) return;
  strand_.post([this] { refresh(); });
}

api::ModuleHealth StateFeeder::health() const {
  std::string problem, notes;
  {
    std::lock_guard lock(mutex_);
    problem = problem_;
    notes = notes_;
  }
  if (const Cluster* cluster = running_) {
    const std::string more = cluster->problem();
    if (!more.empty()) problem += (problem.empty() ? "" : "; ") + more;
  }
  const std::optional<Time> known = services_.hub.confirmed(state::kPods);
  if (!known) return {"state", false, api::pods_unknown_because(problem)};
  if (problem.empty()) return {"state", true, notes.empty() ? "ok" : "ok, but " + notes};
  return {"state", true,
          "degraded, keeping the last state, pods " + age_of(*known, services_.clock.now()) + " old: " + problem};
}

void StateFeeder::refresh() {
  requested_ = false;
  Result<void> refreshed = refresh_sources();
  std::string problem = refreshed ? std::string() : refreshed.error().message();
  std::string notes = files_ ? join(files_->notes(), "; ") : std::string();
  std::lock_guard lock(mutex_);
  using Change = ProblemTracker::Change;
  if (logged_.update("notes", notes) == Change::begun) log::warn(state_log, "{}", notes);
  const Change change = logged_.update("sources", problem);
  if (change == Change::over) log::info(state_log, "all sources can be read again");
  if (change == Change::begun) log::warn(state_log, "{}, keeping the last state", problem);
  notes_ = std::move(notes);
  problem_ = std::move(problem);
}

Result<void> StateFeeder::refresh_sources() {
  const Time now = services_.clock.now();
  Result<void> cgroups = cgroups_.refresh();
  Result<void> files = files_ ? files_->refresh() : Result<void>();
  auto topology = state::read_topology(config_.roots);
  if (topology) {
    services_.hub.publish({.topology = std::move(topology).value()});
    services_.hub.confirm(state::kTopology, now);
  }
  if (pods_ == PodSource::file ? files.has_value() : pods_ == PodSource::cgroup && cgroups)
    services_.hub.confirm(state::kPods, now);
  if (files && !config_.state.file.node.empty()) services_.hub.confirm(state::kNode, now);
  if (files && !config_.state.file.node_slo.empty()) services_.hub.confirm(state::kNodeSlo, now);
  if (!files) return files;
  if (!cgroups) return cgroups;
  if (!topology) return std::move(topology).error().context("cannot read the CPU topology");
  return {};
}

// Logs annotations of the node and its pods that could not be read. Each set of problems is logged once.
void StateFeeder::follow_annotations(std::uint32_t changed, const state::Snapshot& snapshot) {
  if (!(changed & state::kTopology) || !snapshot.cpu_owners) return;
  std::vector<std::string> problems = snapshot.cpu_owners->node_problems;
  problems.insert(problems.end(), snapshot.cpu_owners->pod_problems.begin(), snapshot.cpu_owners->pod_problems.end());
  const std::string text = state::first_problems(problems);
  if (annotation_problems_.update("annotations", text) == ProblemTracker::Change::begun)
    log::warn(state_log, "{}", text);
}

void StateFeeder::publish_node() {
  state::Node node;
  node.name = config_.node_name;
  services_.hub.publish({.node = std::move(node)});
}

}  // namespace koord::agentd
