// SPDX-License-Identifier: Apache-2.0
#include "core/kube/events.hpp"

#include <algorithm>
#include <utility>

#include "core/base/url.hpp"
#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::kube {
namespace {

using EventOutcome = EventAggregator::Outcome;

constexpr Duration kForbiddenPause = std::chrono::minutes(5);
constexpr Duration kLongestTimer = std::chrono::minutes(1);

struct Verdict {
  EventOutcome outcome = EventOutcome::written;
  Duration wait{};
};

Verdict judge(bool create, const Result<Reply>& reply) {
  if (!reply) return {EventOutcome::failed};
  if (reply->ok()) return {EventOutcome::written};
  const Status status = status_of(*reply);
  if (create && status.code == 409) return {EventOutcome::exists};
  if (!create && status.code == 404) return {EventOutcome::gone};
  if (status.code == 403 && !status.has_cause("NamespaceTerminating")) return {EventOutcome::refused, kForbiddenPause};
  const bool passing = status.code == 401 || status.code == 429 || status.code >= 500;
  return {passing ? EventOutcome::failed : EventOutcome::refused, status.retry_after.value_or(Duration::zero())};
}

}  // namespace

struct Events::State {
  State(event::Loop& a_loop, const Clock& a_clock, Client& a_client, EventAggregator::Source source,
        const EventAggregator::Limits& limits)
      : loop(a_loop), clock(a_clock), client(a_client), aggregator(std::move(source), limits, random_seed()) {}

  void go_on() {
    timer.reset();
    const Time now = clock.now();
    if (std::optional<EventAggregator::Write> write = aggregator.next(now)) return send(*std::move(write));
    const Time due = aggregator.due(now);
    if (due == Time::max()) return;
    timer =
        loop.after(std::clamp(due - now, Duration(std::chrono::milliseconds(1)), kLongestTimer), [this] { go_on(); });
  }

  void send(EventAggregator::Write write) {
    const std::string events = "/api/v1/namespaces/" + percent_encode(write.name_space) + "/events";
    Call call = write.create ? create_call(events, std::move(write.body))
                             : merge_patch_call(events, write.name, std::move(write.body));
    pending = client.send(std::move(call), [this, create = write.create](Result<Reply> reply) {
      const Verdict verdict = judge(create, reply);
      const bool went_well = verdict.outcome != EventOutcome::failed && verdict.outcome != EventOutcome::refused;
      problem = went_well ? std::string() : describe(reply);
      aggregator.ended(verdict.outcome, clock.now(), verdict.wait);
      go_on();
    });
  }

  event::Loop& loop;
  const Clock& clock;
  Client& client;
  EventAggregator aggregator;
  Client::PendingPtr pending;
  std::unique_ptr<event::Timer> timer;
  std::string problem;
};

Events::Events(event::Loop& loop, const Clock& clock, Client& client, EventAggregator::Source source,
               const EventAggregator::Limits& limits)
    : state_(std::make_unique<State>(loop, clock, client, std::move(source), limits)) {}

Events::~Events() = default;

void Events::record(EventInput input) {
  state_->aggregator.add(std::move(input), state_->clock.now(), state_->clock.wall_ns());
  state_->go_on();
}

std::uint64_t Events::dropped() const { return state_->aggregator.dropped(); }

const std::string& Events::problem() const { return state_->problem; }

}  // namespace koord::kube
