// SPDX-License-Identifier: Apache-2.0
// Reviewer: asks the API server which user a token belongs to (TokenReview), and whether a user may do something
// (SubjectAccessReview). Decisions of either kind, also refusals and denials, are kept for ten seconds; equal questions
// that come meanwhile wait for the same answer. Questions that may be answered with no are limited for each client and
// for all together (review_budget.hpp); one that was answered with yes in the last ten minutes is not. Those beyond the
// limit wait for a few seconds in a bounded line, where clients take turns (review_line.hpp). Without an answer the
// decision is `unavailable`, which is not kept: the caller must refuse the request. [loop thread]
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kubeauth/review.hpp"
#include "core/kubeauth/review_budget.hpp"
#include "core/kubeauth/review_line.hpp"

namespace koord::kubeauth {

inline constexpr Duration kKeepRefusal = std::chrono::seconds(10);

struct ReviewerOptions {
  std::vector<std::string> audiences = {};     // a token must be for one of them; empty: for the API server's own
  Duration keep = std::chrono::seconds(10);    // a decision
  std::size_t entries = 512;                   // decisions of each kind that accept or allow
  std::size_t bytes = 8u << 20;                // of the questions of these
  std::size_t refusals = 256;                  // other decisions of each kind, kept for kKeepRefusal at most
  std::size_t refusal_bytes = 1u << 20;        // of the questions of these
  ReviewBudget::Limits budget = {};            // of questions of each kind; further ones wait
  ReviewLine::Limits line = {};                // of those; further ones are `unavailable`
  Duration timeout = std::chrono::seconds(8);  // also while the client waits for its turn
};

class Reviewer {
 public:
  using OnToken = std::function<void(const TokenDecision&)>;
  using OnAccess = std::function<void(const AccessDecision&)>;

  struct Counters {
    std::uint64_t token_reviews = 0, access_reviews = 0;  // sent
    std::uint64_t kept = 0;                               // decisions without a question
    std::uint64_t limited = 0;                            // decisions for lack of budget
    std::uint64_t unavailable = 0;                        // without an answer
  };

  // Loop, clock and client must outlive it. The client should be of its own: a flood of tokens uses up its rate.
  Reviewer(event::Loop& loop, const Clock& clock, kube::Client& client, ReviewerOptions options = {});
  ~Reviewer();
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;

  // The callback is called once, perhaps before the function returns; not any more once the Reviewer is destroyed,
  // which a callback must not do.
  // `client`: the address, or the network, that the token comes from.
  void authenticate(const std::string& client, const std::string& token, OnToken on_token);
  void authorize(const Identity& identity, const Access& access, OnAccess on_access);

  Counters counters() const;  // [any]

 private:
  template <class Decision>
  class Questions;
  std::unique_ptr<Questions<TokenDecision>> tokens_;
  std::unique_ptr<Questions<AccessDecision>> accesses_;
};

}  // namespace koord::kubeauth
