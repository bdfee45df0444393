// SPDX-License-Identifier: Apache-2.0
#include "core/evict/api_evictor.hpp"

#include <utility>

namespace koord::evict {
namespace {

std::string text_of(const Outcome& outcome) {
  const Order& order = outcome.order;
  std::string text = order.feature + ": " + order.request.reason;
  if (outcome.outcome == decision::Outcome::killed)
    text += "; its containers were killed, for the API server did not take the eviction";
  return outcome.why.empty() ? text : text + "; " + outcome.why;
}

}  // namespace

ApiEvictor::ApiEvictor(event::Loop& loop, const Clock& clock, kube::Client& client, Options options)
    : loop_(loop), options_(std::move(options)), evictor_(client), events_(loop, clock, client, options_.source) {}

ApiEvictor::~ApiEvictor() = default;

void ApiEvictor::ask(const Order& order, const OnAnswer& on_answer) {
  const std::string& uid = order.pod.uid;
  auto [entry, is_new] = requests_.try_emplace(uid);
  if (!is_new) return;
  entry->second.pending = evictor_.evict(
      {.name_space = order.pod.namespace_, .name = order.pod.name, .uid = uid},
      [this, uid, on_answer](const Result<kube::EvictionAnswer>& answer) { end(uid, on_answer, answer); });
  entry->second.patience = loop_.after(options_.patience, [this, uid, on_answer] { give_up(uid, on_answer); });
}

void ApiEvictor::give_up(const std::string& uid, const OnAnswer& on_answer) {
  auto request = requests_.find(uid);
  if (request == requests_.end()) return;
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(options_.patience);
  const std::string why = "no answer to the eviction within " + std::to_string(waited.count()) + " s";
  if (!request->second.pending->was_sent())
    return end(uid, on_answer, Error{std::make_error_code(std::errc::timed_out), why});
  end(uid, on_answer, kube::EvictionAnswer{kube::EvictionAnswer::Outcome::unanswered, why});
}

void ApiEvictor::end(const std::string& uid, const OnAnswer& on_answer, const Result<kube::EvictionAnswer>& answer) {
  // The running callback is part of the request, so a later task of the loop destroys it.
  auto request = requests_.extract(uid);
  if (request.empty()) return;
  auto ended = std::make_shared<Request>(std::move(request.mapped()));
  const std::string of = uid;
  const OnAnswer report = on_answer;
  const Result<kube::EvictionAnswer> what = answer;
  loop_.post([ended] {});
  report(of, what);
}

void ApiEvictor::record(const Outcome& outcome) {
  const bool done = outcome.outcome == decision::Outcome::evicted || outcome.outcome == decision::Outcome::killed;
  const state::Pod& pod = outcome.order.pod;
  events_.record({.about = {"v1", "Pod", pod.namespace_, pod.name, pod.uid},
                  .warning = true,
                  .reason = done ? "evictPodSuccess" : "evictPodFail",
                  .message = text_of(outcome)});
}

}  // namespace koord::evict
