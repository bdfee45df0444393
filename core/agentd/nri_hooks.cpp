// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/nri_hooks.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/backoff.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category nri_log{"nri"};

// The start of a hook does not change the snapshot, so it is polled.
constexpr Duration kPollPeriod = std::chrono::seconds(1);
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

NriHooks::NriHooks(const Services& services, const config::HookConfig& config, hook::Creations& creations,
                   HookQuestions& questions, nri::KeepAnnotation keep)
    : services_(services),
      config_(config),
      creations_(creations),
      questions_(questions),
      keep_(std::move(keep)),
      is_v2_(questions.is_v2()) {}

NriHooks::~NriHooks() { stop(); }

void NriHooks::start() {
  if (config_.nri_socket.empty()) return;
  timer_ = services_.loop.every(kPollPeriod, [this] { connect_if_needed(); });
}

void NriHooks::stop() {
  timer_.reset();
  alive_.reset();
  client_.reset();
}

void NriHooks::connect_if_needed() {
  if (client_ || questions_.running(kStages).empty()) return;
  const nri::Options options = options_of(config_, keep_);
  if (Result<void> checked = nri::check(options); !checked) {
    log::error(nri_log, "no connection to '{}': {}", config_.nri_socket, checked.error().message());
    timer_.reset();
    return;
  }
  set_connected(false);
  client_ = std::make_unique<nri::Client>(services_.loop, services_.clock, options, *this);
  client_->start();
}

bool NriHooks::ask(std::uint32_t stage, const nri::Pod& pod, const nri::Container* container,
                   const nri::Resources* requested, HookQuestions::Then then) {
  const HookQuestion question{
      .stage = stage, .asked_by = "NRI", .pod = pod, .container = container, .requested = requested};
  return alive_ && questions_.ask(question, std::move(then));
}

void NriHooks::connected(const nri::Runtime& runtime) {
  log::info(nri_log, "connected to {} {} at '{}'", runtime.name, runtime.version, config_.nri_socket);
}

void NriHooks::disconnected(const Error& why) {
  log::warn(nri_log, "the connection to '{}' has ended: {}; connecting again", config_.nri_socket, why.message());
  set_connected(false);
}

void NriHooks::synchronize(std::vector<nri::Pod>, std::vector<nri::Container>, nri::Done<nri::UpdateAnswer> done) {
  if (client_->status().connections > 0)
    services_.metrics.counter("host_nri_reconnects_total", "Connections to the container runtime after the first one.")
        .add();
  set_connected(true);
  done({});
}

void NriHooks::run_pod_sandbox(const nri::Pod& pod, nri::Done<nri::PodAnswer> done) {
  const bool asked = ask(KOORD_STAGE_PRE_RUN_POD_SANDBOX, pod, nullptr, nullptr,
                         [done](const host::HookVerdict& verdict) { done({.refusal = refusal_of(verdict)}); });
  if (!asked) done({});
}

void NriHooks::create_container(const nri::Pod& pod, const nri::Container& container,
                                nri::Done<nri::CreateAnswer> done) {
  const auto then = [this, pod_uid = pod.uid, container, done](const host::HookVerdict& verdict) {
    questions_.remember(hook::record_of(verdict, pod_uid, container));
    const auto others =
        questions_.other_parts(KOORD_STAGE_PRE_CREATE_CONTAINER, hook::cgroup_dir_of(container.cgroups_path), verdict);
    done({.adjustment = hook::adjustment_of(verdict, container, is_v2_, others), .refusal = refusal_of(verdict)});
  };
  if (!ask(KOORD_STAGE_PRE_CREATE_CONTAINER, pod, &container, nullptr, then)) done({});
}

void NriHooks::update_container(const nri::Pod& pod, const nri::Container& container, const nri::Resources& resources,
                                nri::Done<nri::UpdateAnswer> done) {
  const auto then = [this, container, resources, done](const host::HookVerdict& verdict) {
    nri::UpdateAnswer answer{.refusal = refusal_of(verdict)};
    const auto others = questions_.other_parts(KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES,
                                               hook::cgroup_dir_of(container.cgroups_path), verdict);
    const nri::Resources wanted = hook::resources_of(verdict, resources, is_v2_, others);
    if (wanted != nri::Resources()) answer.updates.push_back({.container_id = container.id, .resources = wanted});
    done(std::move(answer));
  };
  if (!ask(KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES, pod, &container, &resources, then)) done({});
}

// Records the container's creation. Its cgroup has the adjusted values now, and its program has not started yet.
void NriHooks::notify(nri::Stage stage, const nri::Pod&, const nri::Container& container) {
  if (stage != nri::Stage::start_container) return;
  questions_.post([this, id = container.id] { creations_.begin(id); });
}

void NriHooks::late(nri::Stage stage, const std::string& id) {
  if (stage == nri::Stage::create_container) questions_.post([this, id] { creations_.forget(id); });
  log::warn(nri_log, "the answer to {} of {} came after {} ms: existing pods get it later", nri::to_string(stage), id,
            config_.deadline / std::chrono::milliseconds(1));
}

void NriHooks::set_connected(bool is_connected) {
  since_ = services_.clock.now();
  services_.metrics.gauge("host_nri_connected", "1: the container runtime asks the agent.").set(is_connected ? 1 : 0);
}

api::HookConnection NriHooks::connection() const {
  api::HookConnection connection{.socket = config_.nri_socket};
  if (!client_) return connection;
  connection.status = client_->status();
  connection.since = since_;
  return connection;
}

}  // namespace koord::agentd
