// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/nri_hooks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/agentd/hooks.hpp"
#include "core/base/backoff.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category nri_log{"nri"};

// The start of a hook does not change the snapshot, so it is polled.
constexpr Duration kLookPeriod = std::chrono::seconds(1);
constexpr std::uint32_t kStages =
    KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER | KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES;

nri::Options options_of(const config::HookConfig& config, const nri::KeepAnnotation& keep) {
  nri::Options options;
  options.socket_path = config.nri_socket;
  options.plugin_index = fmt::format("{:02}", config.nri_index);
  options.events = nri::mask_of(nri::Stage::run_pod_sandbox) | nri::mask_of(nri::Stage::create_container) |
                   nri::mask_of(nri::Stage::start_container) | nri::mask_of(nri::Stage::update_container);
  options.keep_annotation = keep;
  options.deadline = config.deadline;
  options.seed = random_seed();
  return options;
}

std::optional<nri::Refusal> refusal_of(const host::HookVerdict& verdict) {
  if (!verdict.rejection) return std::nullopt;
  return nri::Refusal{verdict.rejection->plugin + ": " + verdict.rejection->why};
}

}  // namespace

NriHooks::NriHooks(const Services& services, const config::HookConfig& config, hook::Creations& creations, Find find,
                   nri::KeepAnnotation keep)
    : services_(services),
      config_(config),
      creations_(creations),
      find_(std::move(find)),
      keep_(std::move(keep)),
      own_uid_(own_pod_uid()),
      is_v2_(services.layout.hierarchy() == cgroup::Hierarchy::v2),
      dispatcher_({.hooks = [this](std::uint32_t stage) { return hooks(stage); },
                   .clock = services.clock,
                   .metrics = services.metrics}) {}

NriHooks::~NriHooks() { stop(); }

void NriHooks::start() {
  if (config_.nri_socket.empty()) return;
  timer_ = services_.loop.every(kLookPeriod, [this] { connect_if_needed(); });
}

void NriHooks::stop() {
  timer_.reset();
  alive_.reset();
  client_.reset();
  thread_.reset();
}

void NriHooks::connect_if_needed() {
  if (client_) return publish();
  if (find_(kStages).empty()) return;
  const nri::Options options = options_of(config_, keep_);
  if (Result<void> checked = nri::check(options); !checked) {
    log::error(nri_log, "no connection to '{}': {}", config_.nri_socket, checked.error().message());
    timer_.reset();
    return;
  }
  thread_ = std::make_unique<event::WorkerPool>(1);
  client_ = std::make_unique<nri::Client>(services_.loop, services_.clock, options, *this);
  client_->start();
}

// Leaves out hooks that are switched off. The others get the time that the runtime leaves.
std::vector<host::HookTarget> NriHooks::hooks(std::uint32_t stage) const {
  std::vector<host::HookTarget> targets = find_(stage);
  std::erase_if(targets, [&](const host::HookTarget& target) {
    return services_.governor.mode(target.plugin) == koord::Mode::off;
  });
  for (host::HookTarget& target : targets) {
    target.in_shadow = services_.governor.mode(target.plugin) != koord::Mode::enforce;
    target.deadline = std::min(target.deadline, config_.deadline * 8 / 10);
  }
  return targets;
}

bool NriHooks::ask(std::uint32_t stage, const nri::Pod& pod, const nri::Container* container,
                   std::function<void(host::HookVerdict)> then) {
  if (!alive_ || find_(stage).empty()) return false;  // modes are read on the thread: the governor may be writing
  const state::SnapshotPtr snapshot = services_.hub.current();
  host::HookRequest request{.stage = stage, .pod = hook::pod_of(pod, *snapshot), .node_slo = snapshot->node_slo};
  request.cri_json = container == nullptr ? hook::cri_json_of(pod) : hook::cri_json_of(*container);
  if (container != nullptr) request.container = hook::container_of(*container, request.pod);
  if (const std::string why = hook::why_bypassed(request.pod, own_uid_); !why.empty()) {
    services_.metrics.counter("host_hooks_bypassed_total", "Pods and containers that hooks were not asked about.")
        .add();
    log::debug(nri_log, "{}: hooks are not asked: {}", state::full_name(request.pod), why);
    return false;
  }
  thread_->post([this, request = std::move(request), then = std::move(then)] {
    host::HookVerdict verdict = dispatcher_.dispatch(request);
    hook::drop_hands_off(verdict, request.pod);
    hook::choose_settings(verdict);
    log_verdict(verdict, request.pod, request.container ? request.container->name : std::string());
    then(std::move(verdict));
  });
  return true;
}

// A hook without an answer has not been asked: its kept answer counts.
hook::OtherPartsOf NriHooks::other_parts(std::uint32_t stage, const nri::Container& container,
                                         const host::HookVerdict& verdict) const {
  std::set<std::string> asked;
  for (const host::HookTarget& target : find_(stage)) asked.insert(target.plugin);
  for (const host::HookVerdict::Silence& silence : verdict.silent) asked.erase(silence.plugin);
  return [this, asked = std::move(asked), cgroup_dir = hook::cgroup_dir_of(container.cgroups_path)](
             const knob::Knob& knob) { return services_.governor.other_parts(knob, cgroup_dir, asked); };
}

void NriHooks::log_verdict(const host::HookVerdict& verdict, const state::Pod& pod,
                           const std::string& container) const {
  const std::string title =
      container.empty() ? "pod " + state::full_name(pod) : "container " + container + " of " + state::full_name(pod);
  for (const host::HookVerdict::Silence& silence : verdict.silent)
    log::warn(nri_log, "{} gave no answer for {}: {}", silence.plugin, title, silence.why);
  if (verdict.rejection)
    log::warn(nri_log, "{} refuses {}: {}", verdict.rejection->plugin, title, verdict.rejection->why);
  for (const host::HookVerdict::Setting& setting : verdict.in_shadow)
    log::debug(nri_log, "shadow: {} would set {} = {} for {}", setting.plugin, setting.field, setting.value, title);
}

void NriHooks::connected(const nri::Runtime& runtime) {
  log::info(nri_log, "connected to {} {} at '{}'", runtime.name, runtime.version, config_.nri_socket);
}

void NriHooks::disconnected(const Error& why) {
  log::warn(nri_log, "the connection to '{}' has ended: {}; connecting again", config_.nri_socket, why.message());
}

void NriHooks::run_pod_sandbox(const nri::Pod& pod, nri::Done<nri::PodAnswer> done) {
  const bool asked = ask(KOORD_STAGE_PRE_RUN_POD_SANDBOX, pod, nullptr,
                         [done](const host::HookVerdict& verdict) { done({.refusal = refusal_of(verdict)}); });
  if (!asked) done({});
}

void NriHooks::create_container(const nri::Pod& pod, const nri::Container& container,
                                nri::Done<nri::CreateAnswer> done) {
  const auto then = [this, pod_uid = pod.uid, container, done](const host::HookVerdict& verdict) {
    remember(hook::record_of(verdict, pod_uid, container));
    const auto others = other_parts(KOORD_STAGE_PRE_CREATE_CONTAINER, container, verdict);
    done({.adjustment = hook::adjustment_of(verdict, container, is_v2_, others), .refusal = refusal_of(verdict)});
  };
  if (!ask(KOORD_STAGE_PRE_CREATE_CONTAINER, pod, &container, then)) done({});
}

void NriHooks::update_container(const nri::Pod& pod, const nri::Container& container, const nri::Resources& resources,
                                nri::Done<nri::UpdateAnswer> done) {
  const auto then = [this, container, resources, done](const host::HookVerdict& verdict) {
    nri::UpdateAnswer answer{.refusal = refusal_of(verdict)};
    const auto others = other_parts(KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES, container, verdict);
    const nri::Resources wanted = hook::resources_of(verdict, resources, is_v2_, others);
    if (wanted != nri::Resources()) answer.updates.push_back({.container_id = container.id, .resources = wanted});
    done(std::move(answer));
  };
  if (!ask(KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES, pod, &container, then)) done({});
}

// The cgroup has the adjusted values now, and the container's program does not run yet.
void NriHooks::notify(nri::Stage stage, const nri::Pod&, const nri::Container& container) {
  if (stage != nri::Stage::start_container) return;
  thread_->post([this, id = container.id] { creations_.begin(id); });
}

void NriHooks::remember(hook::CreationRecord record) {
  const Result<void> written = creations_.remember(std::move(record));
  using Change = ProblemTracker::Change;
  if (problems_.update("creations", written ? "" : "not written") == Change::begun)
    log::warn(nri_log, "{}: after a kill of the agent, values that hooks have set at creations stay",
              written.error().message());
}

void NriHooks::late(nri::Stage stage, const std::string& id) {
  if (stage == nri::Stage::create_container) thread_->post([this, id] { creations_.forget(id); });
  log::warn(nri_log, "the answer to {} of {} came after {} ms: existing pods get it later", nri::to_string(stage), id,
            config_.deadline / std::chrono::milliseconds(1));
}

void NriHooks::publish() {
  const nri::Status& status = client_->status();
  metric::HostMetrics& metrics = services_.metrics;
  metrics.gauge("host_nri_connected", "1: the container runtime asks the agent.")
      .set(status.state == nri::ConnectionState::active ? 1 : 0);
  metrics.gauge("host_nri_connections", "Connections to the container runtime since the agent's start.")
      .set(static_cast<double>(status.connections));
}

}  // namespace koord::agentd
