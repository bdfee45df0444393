// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/evictions.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/agentd/options.hpp"
#include "core/base/backoff.hpp"
#include "core/base/file.hpp"
#include "core/base/timestamp.hpp"
#include "core/evict/container_kill.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

using namespace std::chrono_literals;

constexpr log::Category evict_log{"evict"};
constexpr Duration kEvictionPoll = 1s;

evict::Evictions::Options options_of(const config::Config& config) {
  const char* own_uid = std::getenv("POD_UID");
  return {.limits = config.evict,
          .own_uid = own_uid == nullptr ? "" : own_uid,
          .pods_old = pods_are_old_after(config),
          .seed = random_seed()};
}

std::string line_of(const evict::Outcome& outcome) {
  const evict::Order& order = outcome.order;
  std::string line =
      "pod '" + state::full_name(order.pod) + "' is " + std::string(name_of(outcome.outcome)) + " for " + order.feature;
  line += ": " + order.request.reason;
  return outcome.why.empty() ? line : line + " (" + outcome.why + ")";
}

std::string minutes_until(Time until, Time now) {
  return std::to_string(std::chrono::ceil<std::chrono::minutes>(until - now).count()) + " min";
}

}  // namespace

EvictionModule::EvictionModule(const Services& services, const config::Config& config)
    : services_(services),
      config_(config),
      evictions_(std::make_shared<evict::Evictions>(eviction_parts(), options_of(config))) {}

EvictionModule::~EvictionModule() { stop(); }

evict::Evictions::Parts EvictionModule::eviction_parts() {
  return {.clock = services_.clock,
          .hub = services_.hub,
          .mode = [this](const std::string& plugin) { return services_.governor.mode(plugin); },
          .usage = [this] { return evict::read_usage(services_.store, services_.clock.now()); },
          .ask = [this](evict::Order order) { later([this, order = std::move(order)] { ask(order); }); },
          .record = [this](decision::Decision decision) { services_.governor.note(std::move(decision)); },
          .on_outcome = [this](const evict::Outcome& outcome) { later([this, outcome] { report_outcome(outcome); }); },
          .on_brake = [this](Time until,
                             const std::string& why) { later([this, until, why] { report_brake(until, why); }); },
          .on_held_back = [this](const evict::Outcome& outcome) { later([this, outcome] { log_held_back(outcome); }); },
          .memory_pressure = [proc = config_.roots.proc]() -> std::optional<double> {
            const Result<std::string> text = read_file(proc + "/pressure/memory");
            return text ? evict::full_memory_pressure(*text) : std::nullopt;
          },
          .kill = [layout = services_.layout](const state::Pod& pod) { return evict::kill_containers(layout, pod); }};
}

void EvictionModule::later(std::function<void()> task) {
  services_.loop.post([task = std::move(task), alive = std::weak_ptr<Alive>(alive_)] {
    if (alive.lock()) task();
  });
}

void EvictionModule::remember() {
  using decision::Outcome;
  std::vector<decision::Decision> records;
  for (Outcome outcome :
       {Outcome::asked, Outcome::evicted, Outcome::killed, Outcome::unanswered, Outcome::refused, Outcome::gone}) {
    decision::DecisionQuery query;
    query.kind = decision::DecisionKind::eviction;
    query.outcome = outcome;
    std::vector<decision::Decision> some = services_.governor.log().find(query).decisions;
    records.insert(records.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  evictions_->remember(records);
}

void EvictionModule::start() {
  remember();
  export_metrics();
  poll_timer_ = services_.loop.every(kEvictionPoll, [this] { poll(); });
  poll();
}

void EvictionModule::stop() {
  poll_timer_.reset();
  api_.reset();
}

void EvictionModule::take(const decision::Proposer& proposer, std::vector<evict::Request> requests) {
  evictions_->take(proposer, std::move(requests));
}

void EvictionModule::ask(const evict::Order& order) {
  // Records are written to a disk, so a worker thread does it, not the loop.
  auto answered = [this](const std::string& uid, const Result<kube::EvictionAnswer>& answer) {
    services_.workers.post([evictions = evictions_, uid, answer] { evictions->answered(uid, answer); });
  };
  if (api_) return api_->ask(order, answered);
  answered(order.pod.uid, not_found("this agent has no API server"));
}

void EvictionModule::report_outcome(const evict::Outcome& outcome) {
  const bool done = outcome.outcome == decision::Outcome::evicted || outcome.outcome == decision::Outcome::killed;
  if (done) ++done_;
  log::write(evict_log, done ? log::Level::info : log::Level::warn, line_of(outcome));
  const state::Pod& pod = outcome.order.pod;
  services_.events.add({.time = services_.clock.now(),
                        .plugin = outcome.order.plugin,
                        .subject = {{"pod_uid", pod.uid}, {"pod_name", pod.name}, {"pod_namespace", pod.namespace_}},
                        .what = done ? "evictPodSuccess" : "evictPodFail",
                        .why = line_of(outcome)});
  if (api_) api_->record(outcome);
}

void EvictionModule::log_held_back(const evict::Outcome& outcome) {
  const evict::Order& order = outcome.order;
  const std::string what =
      order.pod.name.empty() ? "an eviction" : "eviction of pod '" + state::full_name(order.pod) + "'";
  const std::string reason = what + " for " + order.feature + " is refused: " + std::string(name_of(outcome.outcome)) +
                             (outcome.why.empty() ? "" : ": " + outcome.why);
  if (const auto line = services_.refusals.admit(order.plugin, reason, services_.clock.now()))
    log::warn(evict_log, "{}: {}", order.plugin, *line);
}

void EvictionModule::report_brake(Time until, const std::string& brake_why) {
  const std::string why = brake_why + ": no pod is evicted for " + minutes_until(until, services_.clock.now()) +
                          ", and what would have been evicted is in the decision records";
  log::error(evict_log, "{}", why);
  services_.events.add(
      {.time = services_.clock.now(), .plugin = {}, .subject = {}, .what = "eviction brake", .why = why});
  const kube::ObjectReference node{"v1", "Node", "", config_.node_name, config_.node_name};
  if (api_) api_->record({.about = node, .warning = true, .reason = "EvictionBrake", .message = why});
  report_capability();
}

void EvictionModule::poll() {
  kube::Client* client = api_ ? nullptr : services_.client();
  const evict::ApiEvictor::Options options{.source = {"koordetector", config_.node_name}};
  if (client != nullptr) api_ = std::make_unique<evict::ApiEvictor>(services_.loop, services_.clock, *client, options);
  report_capability();
}

void EvictionModule::report_capability() {
  using service::CapabilityState;
  const evict::Evictions::View view = evictions_->view();
  service::Capability capability{"eviction", CapabilityState::supported, "through the API server", ""};
  if (config_.evict.tier == config::EvictionTier::runtime)
    capability.detail += ", and by the kernel when that is refused and memory is very short";
  std::string problem;
  if (!api_) capability = {"eviction", CapabilityState::absent, "there is no API server", ""};
  if (!view.quiet.empty()) problem = view.quiet.substr(0, view.quiet.rfind(", "));
  if (view.brake_until)
    problem = view.brake_why + ": no pod is evicted before " +
              format_timestamp(services_.clock.wall_label_ns(*view.brake_until) / 1'000'000'000);
  if (!problem.empty()) capability = {"eviction", CapabilityState::broken, problem, ""};
  services_.capabilities.set({capability});
  const bool is_braked = view.brake_until.has_value();
  if (std::exchange(is_braked_, is_braked) && !is_braked)
    log::info(evict_log, "the brake is over: pods may be evicted again");
}

void EvictionModule::export_metrics() {
  auto going = services_.metrics.gauge("host_evictions_going", "Pods that are being evicted, or ended recently.");
  auto brake =
      services_.metrics.gauge("host_eviction_brake", "1 while no pod is evicted because too many were selected.");
  services_.metrics.on_collect([this, going, brake]() mutable {
    const evict::Evictions::View view = evictions_->view();
    going.set(static_cast<double>(view.going));
    brake.set(view.brake_until ? 1 : 0);
    for (const auto& [key, count] : view.counts) {
      metric::HostCounter total = services_.metrics.counter(
          "host_evictions_total", "Requested evictions by result; counted when the result changes.",
          {{"feature", key.first}, {"result", std::string(name_of(key.second))}});
      total.add(static_cast<double>(count) - total.value());
    }
  });
}

}  // namespace koord::agentd
