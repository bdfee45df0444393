// SPDX-License-Identifier: Apache-2.0
#include "core/evict/round.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/evict/eligibility.hpp"

namespace koord::evict {
namespace {

class Round {
 public:
  Round(std::string_view plugin, const EvictionTracker& tracker, const RoundInput& input)
      : plugin_(plugin), tracker_(tracker), input_(input) {
    for (const state::Pod& pod : input.snapshot.pods) pods_.emplace(pod.handle, &pod);
  }

  void satisfy(const Request& request) {
    if (!input_.pods_problem.empty())
      return verdicts_.push_back(
          {.request = &request, .outcome = decision::Outcome::unknown, .why = input_.pods_problem});
    const Result<Release> release = parse_release(request.resource);
    if (!release) return;  // it was refused when it was requested
    for (const state::Pod* pod : unhandled(request)) count_if_going(*pod, request, *release);
    for (const state::Pod* pod : unhandled(request)) {
      if (missing_of(request, *release) <= 0) return;
      consider(*pod, request, *release);
    }
  }

  std::vector<Verdict> take() { return std::move(verdicts_); }

 private:
  std::int64_t missing_of(const Request& request, const Release& release) const {
    std::int64_t missing = request.amount - tracker_.releases(release, input_.now);
    if (input_.others != nullptr) missing -= input_.others->releases(release, input_.now);
    for (const Holding& holding : releasing_) missing -= holding.of(release);
    return missing;
  }

  std::vector<const state::Pod*> unhandled(const Request& request) const {
    std::vector<const state::Pod*> unhandled;
    std::set<std::uint64_t> seen = handled_;  // a pod may be named twice
    for (std::uint64_t handle : request.pods) {
      auto pod = pods_.find(handle);
      if (pod != pods_.end() && seen.insert(handle).second) unhandled.push_back(pod->second);
    }
    return unhandled;
  }

  bool is_pending(const state::Pod& pod) const {
    return tracker_.is_pending(pod.uid) || (input_.others != nullptr && input_.others->is_pending(pod.uid));
  }

  Verdict verdict_of(const state::Pod& pod, const Request& request, const Release& release) const {
    Verdict verdict{
        .pod = &pod, .request = &request, .missing = missing_of(request, release), .holding = holding_of(pod)};
    verdict.releases = verdict.holding.of(release);
    return verdict;
  }

  // Counts a pod that is already ending, even if another client has deleted it.
  void count_if_going(const state::Pod& pod, const Request& request, const Release& release) {
    const bool is_counted = is_pending(pod);
    if (!is_counted && !pod.deleting) return;
    Verdict verdict = verdict_of(pod, request, release);
    handled_.insert(pod.handle);
    if (!is_counted) releasing_.push_back(verdict.holding);
    add(std::move(verdict), decision::Outcome::pending, "it is already terminating, or its eviction was requested");
  }

  void consider(const state::Pod& pod, const Request& request, const Release& release) {
    Verdict verdict = verdict_of(pod, request, release);
    std::string against = protection_of(pod, input_.own_uid);
    if (against.empty()) against = opt_out_of(pod, feature_of(request, plugin_));
    if (!against.empty()) return add(std::move(verdict), decision::Outcome::opted_out, std::move(against));
    if (verdict.releases <= 0) return;  // its end would release nothing
    if (std::string wait = tracker_.wait_of(pod.uid, input_.now); !wait.empty()) {
      verdict.was_refused = true;
      return add(std::move(verdict), decision::Outcome::refused, std::move(wait));
    }
    handled_.insert(pod.handle);
    releasing_.push_back(verdict.holding);
    add(std::move(verdict), decision::Outcome::evicted, {});
  }

  Holding holding_of(const state::Pod& pod) const {
    auto usage = input_.usage.find(pod.uid);
    return {usage == input_.usage.end() ? Usage{} : usage->second, pod.resources};
  }

  void add(Verdict verdict, decision::Outcome outcome, std::string why) {
    verdict.outcome = outcome;
    verdict.why = std::move(why);
    verdicts_.push_back(std::move(verdict));
  }

  const std::string_view plugin_;
  const EvictionTracker& tracker_;
  const RoundInput& input_;
  std::unordered_map<std::uint64_t, const state::Pod*> pods_;  // key: handle of the pod
  std::set<std::uint64_t> handled_;
  std::vector<Holding> releasing_;  // pods of this round that are not in the tracker
  std::vector<Verdict> verdicts_;
};

void stop(Verdict& verdict, decision::Outcome outcome, std::string why) {
  verdict.outcome = outcome;
  verdict.why = std::move(why);
}

// Decides which of the picked pods may be evicted now.
void restrain(const std::vector<Verdict*>& picked, EvictionTracker& tracker, const RoundInput& input) {
  std::vector<std::string> uids;
  for (const Verdict* verdict : picked) uids.push_back(verdict->pod->uid);
  tracker.pick(uids, input.snapshot, input.now);
  const bool is_braked = tracker.brake_until(input.now).has_value();
  const std::string quiet = tracker.quiet(input.now);
  std::uint64_t room = tracker.room(input.now);
  for (Verdict* verdict : picked) {
    if (is_braked) {
      stop(*verdict, decision::Outcome::brake, tracker.brake_why());
    } else if (!quiet.empty()) {
      verdict->was_refused = true;
      stop(*verdict, decision::Outcome::refused, quiet);
    } else if (room == 0) {
      stop(*verdict, decision::Outcome::budget, "as many as evict.mostPods have gone in evict.window");
    } else {
      --room;
    }
  }
}

}  // namespace

std::vector<Verdict> decide(const std::vector<Request>& requests, std::string_view plugin, EvictionTracker& tracker,
                            const RoundInput& input) {
  Round round(plugin, tracker, input);
  for (const Request& request : requests) round.satisfy(request);
  std::vector<Verdict> verdicts = round.take();
  std::vector<Verdict*> picked;
  for (Verdict& verdict : verdicts)
    if (verdict.outcome == decision::Outcome::evicted) picked.push_back(&verdict);
  if (!picked.empty()) restrain(picked, tracker, input);
  return verdicts;
}

}  // namespace koord::evict
