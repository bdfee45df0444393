// SPDX-License-Identifier: Apache-2.0
#include "core/evict/eviction_tracker.hpp"

#include <algorithm>
#include <utility>

#include "core/base/saturating.hpp"

namespace koord::evict {
namespace {

using namespace std::chrono_literals;
using ApiOutcome = kube::EvictionAnswer::Outcome;

constexpr Duration kFirstWait = 10s, kLongestWait = 5min;
constexpr Duration kNoAccessWait = 5min;  // an operator must change something first
constexpr Duration kLongestSettling = 20s;

Duration settling_of(const Release& release) {
  if (!release.used) return {};
  return release.resource == "cpu" ? kLongestSettling : 4s;
}

std::string seconds_left(Time until, Time now) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(until - now).count()) + " s";
}

std::string described(const kube::EvictionAnswer& answer) {
  return std::string(name_of(answer.outcome)) + (answer.message.empty() ? "" : ": " + answer.message);
}

}  // namespace

const state::Pod* find_pod(const state::Snapshot& snapshot, std::string_view uid) {
  const auto is_before = [](const state::Pod& pod, std::string_view wanted) { return pod.uid < wanted; };
  auto found = std::lower_bound(snapshot.pods.begin(), snapshot.pods.end(), uid, is_before);
  return found != snapshot.pods.end() && found->uid == uid ? &*found : nullptr;
}

std::size_t most_picked(std::size_t pods, std::uint64_t brake_percent) {
  return std::max<std::size_t>(kBrakeFloor, pods * brake_percent / 100);
}

EvictionTracker::EvictionTracker(const config::EvictSettings& limits, std::uint64_t seed)
    : limits_(limits), backoff_(kFirstWait, kLongestWait, seed) {}

bool EvictionTracker::is_over(const PendingEviction& going, Time now) const {
  if (going.gone) return now - *going.gone >= kLongestSettling;
  return !going.terminating && now - going.since >= limits_.pending_period;
}

void EvictionTracker::update(const state::Snapshot& snapshot, Time now) {
  for (auto& [uid, going] : pending_) {
    const state::Pod* pod = find_pod(snapshot, uid);
    const bool is_there = pod != nullptr && !has_ended(*pod);
    going.terminating = is_there && pod->deleting;
    if (!is_there && !going.gone) going.gone = now;
  }
  std::erase_if(pending_, [&](const auto& entry) { return is_over(entry.second, now); });
  std::erase_if(refusals_, [&](const auto& entry) {
    return entry.second.until + limits_.window <= now || find_pod(snapshot, entry.first) == nullptr;
  });
  for (Times* times : {&asked_, &picked_, &unanswered_})
    std::erase_if(*times, [&](const auto& entry) { return now - entry.second >= limits_.window; });
  if (brake_until_ && *brake_until_ <= now) brake_until_.reset();
}

std::int64_t EvictionTracker::releases(const Release& release, Time now) const {
  std::int64_t sum = 0;
  for (const auto& [uid, going] : pending_) {
    const bool counts = !going.gone || now - *going.gone < settling_of(release);
    if (counts) sum = saturating_sum(sum, going.holding.of(release));
  }
  return sum;
}

bool EvictionTracker::pick(const std::vector<std::string>& uids, const state::Snapshot& snapshot, Time now) {
  if (brake_until(now)) return false;
  for (const std::string& uid : uids) picked_.insert_or_assign(uid, now);
  std::size_t pods = 0;  // the node's pods, and picked pods that no longer exist
  for (const auto& [uid, time] : picked_) pods += find_pod(snapshot, uid) == nullptr ? 1 : 0;
  for (const state::Pod& pod : snapshot.pods) pods += has_ended(pod) ? 0 : 1;
  if (picked_.size() <= most_picked(pods, limits_.brake_percent)) return false;
  brake(std::to_string(picked_.size()) + " of the node's " + std::to_string(pods) +
            " pods were picked for eviction within evict.window",
        now);
  return true;
}

void EvictionTracker::brake(std::string why, Time now) {
  brake_until_ = now + limits_.brake_period;
  brake_why_ = std::move(why);
  picked_.clear();
  unanswered_.clear();
}

std::optional<Time> EvictionTracker::brake_until(Time now) const {
  return brake_until_ && now < *brake_until_ ? brake_until_ : std::nullopt;
}

std::uint64_t EvictionTracker::room(Time now) const {
  const auto is_of_window = [&](const auto& entry) { return now - entry.second < limits_.window; };
  const auto gone = static_cast<std::uint64_t>(std::count_if(asked_.begin(), asked_.end(), is_of_window));
  return gone >= limits_.most_pods ? 0 : limits_.most_pods - gone;
}

std::string EvictionTracker::wait_of(std::string_view uid, Time now) const {
  auto refusal = refusals_.find(uid);
  if (refusal == refusals_.end() || refusal->second.until <= now) return {};
  return refusal->second.why + ", not asked again for " + seconds_left(refusal->second.until, now);
}

std::string EvictionTracker::quiet(Time now) const {
  return now < quiet_until_ ? quiet_why_ + ", not asked again for " + seconds_left(quiet_until_, now) : std::string();
}

void EvictionTracker::ask(const std::string& uid, const Holding& holding, Time now) {
  pending_.insert_or_assign(uid, PendingEviction{holding, now, false, std::nullopt});
  asked_.insert_or_assign(uid, now);
}

void EvictionTracker::remember(const std::string& uid, Time when) {
  asked_.insert_or_assign(uid, when);
  picked_.insert_or_assign(uid, when);
}

void EvictionTracker::forget(const std::string& uid) {
  asked_.erase(uid);
  picked_.erase(uid);
}

void EvictionTracker::killed(const std::string& uid, const Holding& holding, Time now) { ask(uid, holding, now); }

void EvictionTracker::be_quiet(Duration at_least, std::string why, Time now) {
  quiet_until_ = now + backoff_.failed(at_least);
  quiet_why_ = std::move(why);
}

void EvictionTracker::refuse(const std::string& uid, const kube::EvictionAnswer& answer, Time now) {
  Refusal& refusal = refusals_[uid];
  Duration wait = kFirstWait;
  for (std::uint32_t i = 0; i < refusal.count && wait < kLongestWait; ++i) wait *= 2;
  wait = std::min(wait, kLongestWait);
  const Duration asked = std::min(answer.retry_after.value_or(Duration::zero()), Backoff::kMaxAsked);
  refusal = {refusal.count + 1, now + std::max(wait, asked), described(answer)};
}

void EvictionTracker::answered(const std::string& uid, const Result<kube::EvictionAnswer>& answer, Time now) {
  if (answer && answer->outcome == ApiOutcome::evicted) {
    backoff_.succeeded();
    refusals_.erase(uid);
    return;
  }
  // The eviction may have been done, so the pod still counts for the budget, for the brake and as being evicted.
  if (answer && answer->outcome == ApiOutcome::unanswered) {
    unanswered_.insert_or_assign(uid, now);
    be_quiet(std::max(kFirstWait, answer->retry_after.value_or(kFirstWait)), described(*answer), now);
    if (unanswered_.size() >= kBrakeFloor && !brake_until(now))
      brake("the API server did not answer " + std::to_string(unanswered_.size()) + " evictions within evict.window",
            now);
    return;
  }
  pending_.erase(uid);
  forget(uid);
  if (!answer) return be_quiet(kFirstWait, "the API server cannot be asked: " + answer.error().message(), now);
  if (answer->outcome == ApiOutcome::busy)
    return be_quiet(answer->retry_after.value_or(kFirstWait), described(*answer), now);
  if (kube::concerns_agent(answer->outcome)) return be_quiet(kNoAccessWait, described(*answer), now);
  backoff_.succeeded();
  refuse(uid, *answer, now);
}

}  // namespace koord::evict
