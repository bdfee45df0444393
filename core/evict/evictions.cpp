// SPDX-License-Identifier: Apache-2.0
#include "core/evict/evictions.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace koord::evict {
namespace {

// Returns an amount for operators, in cores or GiB as in the texts of strategies.
std::string in_words(const std::string& resource, std::int64_t amount) {
  const bool is_memory = resource.find("memory") != std::string::npos;
  if (!is_memory && resource.find("cpu") == std::string::npos) return std::to_string(amount);
  constexpr double kGibibyte = 1 << 30;
  char text[64];
  std::snprintf(text, sizeof text, is_memory ? "%.2f GiB" : "%.2f cores",
                static_cast<double>(amount) / (is_memory ? kGibibyte : 1000));
  return text;
}

Order order_of(const Verdict& verdict, const decision::Proposer& proposer) {
  Order order;
  if (verdict.pod != nullptr) order.pod = *verdict.pod;
  order.plugin = proposer.plugin;
  order.strategy = proposer.name;
  order.feature = feature_of(*verdict.request, proposer.plugin);
  order.request = *verdict.request;
  order.request.pods.clear();
  order.releases = verdict.releases;
  order.missing = verdict.missing;
  return order;
}

decision::Decision decision_of(const Order& order, decision::Outcome outcome, const std::string& why, Time now) {
  decision::Decision decision;
  decision.time = now;
  decision.kind = decision::DecisionKind::eviction;
  decision.plugin = order.plugin;
  decision.strategy = order.strategy;
  decision.cgroup_dir = order.pod.cgroup_dir;
  decision.pod_uid = order.pod.uid;
  decision.pod_namespace = order.pod.namespace_;
  decision.pod_name = order.pod.name;
  decision.level = decision::Level::pod;
  decision.reason = order.request.reason;
  decision.inputs = order.request.inputs;
  decision.inputs.emplace_back("missing_" + order.request.resource, in_words(order.request.resource, order.missing));
  decision.inputs.emplace_back("releases_" + order.request.resource, in_words(order.request.resource, order.releases));
  decision.wanted = "gone";
  decision.outcome = outcome;
  decision.problem = why;
  return decision;
}

decision::Outcome outcome_of(const Result<kube::EvictionAnswer>& answer) {
  if (!answer) return decision::Outcome::refused;
  switch (answer->outcome) {
    case kube::EvictionAnswer::Outcome::evicted:
      return decision::Outcome::evicted;
    case kube::EvictionAnswer::Outcome::gone:
      return decision::Outcome::gone;
    case kube::EvictionAnswer::Outcome::unanswered:
      return decision::Outcome::unanswered;
    default:
      return decision::Outcome::refused;
  }
}

std::string why_of(const Result<kube::EvictionAnswer>& answer) {
  if (!answer) return "not sent: " + answer.error().message();
  if (answer->outcome == kube::EvictionAnswer::Outcome::evicted) return {};
  return std::string(name_of(answer->outcome)) + (answer->message.empty() ? "" : ": " + answer->message);
}

// Returns whether a rule of this agent held the eviction back. The brake is reported separately.
bool is_held_back(decision::Outcome outcome) {
  return outcome == decision::Outcome::budget || outcome == decision::Outcome::opted_out ||
         outcome == decision::Outcome::unknown;
}

bool is_memory(const Request& request) { return request.resource == "memory"; }

}  // namespace

Evictions::Evictions(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      tracker_(options_.limits, options_.seed),
      shadow_(options_.limits, options_.seed) {}

std::string Evictions::pods_problem(Time now) const {
  const std::optional<Time> confirmed = parts_.hub.confirmed(state::kPods);
  if (!confirmed) return "the pods are unknown yet";
  const Duration age = now - *confirmed;
  if (age <= options_.pods_old) return {};
  return "the pods were last confirmed " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(age).count()) + " s ago";
}

void Evictions::remember(const std::vector<decision::Decision>& records) {
  std::lock_guard lock(mutex_);
  const Time now = parts_.clock.now();
  std::set<std::string> in_flight;  // requested, without a record of an answer yet
  for (const decision::Decision& record : records) {
    const bool has_failed = record.outcome == decision::Outcome::refused || record.outcome == decision::Outcome::gone;
    if (has_failed) {
      if (in_flight.erase(record.pod_uid) != 0) tracker_.forget(record.pod_uid);
      continue;
    }
    // Does not use the wall clock, which may have been set since. Host time restarts with each boot.
    tracker_.remember(record.pod_uid, std::min(record.time, now));
    if (record.outcome == decision::Outcome::asked)
      in_flight.insert(record.pod_uid);
    else
      in_flight.erase(record.pod_uid);
  }
}

void Evictions::take(const decision::Proposer& proposer, std::vector<Request> requests) {
  const Mode mode = parts_.mode(proposer.plugin);
  if (mode == Mode::off) return;
  const state::SnapshotPtr snapshot = parts_.hub.current();
  const UsageByPod usage = parts_.usage();
  std::vector<Order> orders;
  std::optional<Order> to_kill;
  std::vector<Outcome> held_back;
  std::optional<Time> braked;
  std::string why;  // reason of the brake
  {
    std::lock_guard lock(mutex_);
    const Time now = parts_.clock.now();
    tracker_.update(*snapshot, now);
    shadow_.update(*snapshot, now);
    const bool is_shadow = mode == Mode::shadow;
    EvictionTracker& tracker = is_shadow ? shadow_ : tracker_;
    const std::optional<Time> brake_before = tracker.brake_until(now);
    const RoundInput input{*snapshot, usage, options_.own_uid, pods_problem(now), now, is_shadow ? &tracker_ : nullptr};
    for (const Verdict& verdict : decide(requests, proposer.plugin, tracker, input)) {
      Order order = order_of(verdict, proposer);
      const bool goes = verdict.outcome == decision::Outcome::evicted;
      if (goes) tracker.ask(order.pod.uid, verdict.holding, now);
      if (!goes || is_shadow) {
        const bool is_new = note(order, goes ? decision::Outcome::shadow : verdict.outcome, verdict.why, now);
        if (is_new && !is_shadow && is_held_back(verdict.outcome))
          held_back.push_back({order, verdict.outcome, verdict.why});
      }
      if (goes && !is_shadow) {
        parts_.record(decision_of(order, decision::Outcome::asked, {}, now));
        asked_.insert_or_assign(order.pod.uid, order);
        orders.push_back(std::move(order));
      } else if (!is_shadow && !to_kill && may_kill(verdict, now) && !tracker.pick({order.pod.uid}, *snapshot, now)) {
        tracker.killed(order.pod.uid, verdict.holding, now);
        to_kill = std::move(order);
      }
    }
    if (!is_shadow && !brake_before) braked = tracker.brake_until(now);
    if (braked) why = tracker.brake_why();
  }
  if (braked) parts_.on_brake(*braked, why);
  if (parts_.on_held_back)
    for (const Outcome& outcome : held_back) parts_.on_held_back(outcome);
  for (Order& order : orders) parts_.ask(std::move(order));
  if (to_kill) kill(*to_kill);
}

bool Evictions::may_kill(const Verdict& verdict, Time now) const {
  if (options_.limits.tier != config::EvictionTier::runtime || !parts_.kill || !parts_.memory_pressure) return false;
  if (!verdict.was_refused || !is_memory(*verdict.request)) return false;
  if (tracker_.brake_until(now) || tracker_.room(now) == 0 || tracker_.is_pending(verdict.pod->uid)) return false;
  const std::optional<double> pressure = parts_.memory_pressure();
  return pressure && *pressure >= static_cast<double>(options_.limits.runtime_pressure_percent);
}

bool Evictions::kill(const Order& order) {
  const Result<void> done = parts_.kill(order.pod);
  const Outcome outcome{order, done ? decision::Outcome::killed : decision::Outcome::failed,
                        done ? std::string() : done.error().message()};
  bool is_change = false;
  {
    std::lock_guard lock(mutex_);
    is_change = note(order, outcome.outcome, outcome.why, parts_.clock.now());
  }
  if (done || is_change) parts_.on_outcome(outcome);
  return done.has_value();
}

void Evictions::answered(const std::string& uid, const Result<kube::EvictionAnswer>& answer) {
  Outcome outcome;
  bool is_change = false;
  std::optional<Time> braked;
  std::string why;  // reason of the brake
  {
    std::lock_guard lock(mutex_);
    auto asked = asked_.find(uid);
    if (asked == asked_.end()) return;
    const Time now = parts_.clock.now();
    const bool had_brake = tracker_.brake_until(now).has_value();
    tracker_.answered(uid, answer, now);
    if (!had_brake) braked = tracker_.brake_until(now);
    if (braked) why = tracker_.brake_why();
    outcome.order = std::move(asked->second);
    asked_.erase(asked);
    outcome.outcome = outcome_of(answer);
    outcome.why = why_of(answer);
    is_change = note_answer(outcome.order, outcome.outcome, outcome.why, now);
    if (repeats_access_problem(answer)) is_change = false;
  }
  if (braked) parts_.on_brake(*braked, why);
  if (is_change || outcome.outcome == decision::Outcome::evicted) parts_.on_outcome(outcome);
}

bool Evictions::is_change(const Order& order, decision::Outcome outcome, Time now) {
  std::erase_if(reported_, [&](const auto& entry) { return now - entry.second.at >= options_.limits.window; });
  ReportedOutcome& last = reported_[{order.plugin, order.strategy, order.pod.uid}];
  if (last.outcome == outcome) return false;
  last = {outcome, now};
  return true;
}

bool Evictions::repeats_access_problem(const Result<kube::EvictionAnswer>& answer) {
  if (!answer) return false;
  const bool is_access_problem = kube::concerns_agent(answer->outcome);
  const std::string before = std::exchange(access_problem_, is_access_problem ? answer->message : std::string());
  return is_access_problem && before == answer->message;
}

bool Evictions::note(const Order& order, decision::Outcome outcome, const std::string& why, Time now) {
  if (!is_change(order, outcome, now)) return false;
  ++counts_[{order.feature, outcome}];
  parts_.record(decision_of(order, outcome, why, now));
  return true;
}

bool Evictions::note_answer(const Order& order, decision::Outcome outcome, const std::string& why, Time now) {
  const bool is_new = is_change(order, outcome, now);
  if (is_new) ++counts_[{order.feature, outcome}];
  parts_.record(decision_of(order, outcome, why, now));
  return is_new;
}

Evictions::View Evictions::view() const {
  std::lock_guard lock(mutex_);
  const Time now = parts_.clock.now();
  return {tracker_.brake_until(now), tracker_.brake_why(), tracker_.quiet(now), tracker_.going(), counts_};
}

}  // namespace koord::evict
