// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/state_feeder.hpp"

#include "core/cgroup/kube_root.hpp"
#include "core/log/log.hpp"
#include "core/state/topology.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category state_log{"state"};

// Pods; the node and its NodeSLO come from their files whatever tells the pods.
bool from_files(const config::StateSettings& settings) {
  if (settings.source == config::StateSource::automatic) return !settings.file.pods.empty();
  return settings.source == config::StateSource::file;
}

state::FileSource::Options file_options(const config::StateSettings& settings, const cgroup::Layout& layout) {
  return {from_files(settings) ? settings.file.pods : "", settings.file.node, settings.file.node_slo,
          cgroup::choose_kube_root(layout), layout};
}

}  // namespace

StateFeeder::StateFeeder(Parts parts, const config::StateSettings& settings)
    : parts_(std::move(parts)),
      period_(settings.resync_period),
      cgroups_(parts_.layout, {settings.cgroup.paths, !from_files(settings), state::guess_runtime(parts_.roots)},
               parts_.hub),
      strand_(parts_.workers, "state") {
  if (from_files(settings) || !settings.file.node.empty() || !settings.file.node_slo.empty())
    files_.emplace(file_options(settings, parts_.layout), parts_.hub);
}

void StateFeeder::start() {
  publish_node();
  refresh();
  timer_ = parts_.loop.every(period_, [this] { request(); });
  if (!files_ || files_->watch_fd() < 0) return;
  if (auto watch = parts_.loop.on_readable(files_->watch_fd(), [this] { request(); })) file_watch_ = std::move(*watch);
}

void StateFeeder::stop() {
  file_watch_.reset();
  timer_.reset();
}

void StateFeeder::request() {
  if (requested_.exchange(true)) return;
  strand_.post([this] { refresh(); });
}

ModuleHealth StateFeeder::health() const {
  std::lock_guard lock(mutex_);
  if (parts_.hub.current()->versions.pods == 0)
    return {"state", false, problem_.empty() ? "not known yet" : problem_};
  return {"state", true, problem_.empty() ? "ok" : "degraded, keeping the last state: " + problem_};
}

void StateFeeder::refresh() {
  requested_ = false;
  Result<void> refreshed = refresh_sources();
  std::string problem = refreshed ? std::string() : refreshed.error().message();
  std::lock_guard lock(mutex_);
  if (problem == problem_) return;
  if (problem.empty())
    log::info(state_log, "all sources can be read again");
  else
    log::warn(state_log, "{}, keeping the last state", problem);
  problem_ = std::move(problem);
}

Result<void> StateFeeder::refresh_sources() {
  Result<void> cgroups = cgroups_.refresh();
  Result<void> files = files_ ? files_->refresh() : Result<void>();
  auto topology = state::read_topology(parts_.roots);
  if (topology) parts_.hub.publish({.topology = std::move(topology).value()});
  if (!files) return files;
  if (!cgroups) return cgroups;
  if (!topology) return std::move(topology).error().context("cannot read the CPU topology");
  return {};
}

void StateFeeder::publish_node() {
  state::Node node;
  node.name = parts_.node_name;
  parts_.hub.publish({.node = std::move(node)});
}

}  // namespace koord::agentd
