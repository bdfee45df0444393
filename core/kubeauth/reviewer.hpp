// SPDX-License-Identifier: Apache-2.0
// Reviewer: asks the API server which user a token belongs to (TokenReview), and whether a user may do something
// (SubjectAccessReview). Decisions of either kind, also refusals and denials, are kept for ten seconds; equal questions
// that come meanwhile wait for the same answer. Without an answer the decision is `unavailable`, which is not kept: the
// caller must refuse the request. [loop thread]
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

namespace koord::kubeauth {

struct ReviewerOptions {
  std::vector<std::string> audiences = {};     // a token must be for one of them; empty: for the API server's own
  Duration keep = std::chrono::seconds(10);    // a decision
  std::size_t entries = 512;                   // decisions of each kind
  std::size_t bytes = 8u << 20;                // of the questions of these: a refused token is kept, too
  std::size_t open = 64;                       // questions of each kind at once; further ones are `unavailable`
  Duration timeout = std::chrono::seconds(8);  // also while the client waits for its turn
};

class Reviewer {
 public:
  using OnToken = std::function<void(const TokenDecision&)>;
  using OnAccess = std::function<void(const AccessDecision&)>;

  struct Counters {
    std::uint64_t token_reviews = 0, access_reviews = 0;  // sent
    std::uint64_t kept = 0;                               // decisions without a question
    std::uint64_t unavailable = 0;
  };

  // Loop, clock and client must outlive it. The client should be of its own: a flood of tokens uses up its rate.
  Reviewer(event::Loop& loop, const Clock& clock, kube::Client& client, ReviewerOptions options = {});
  ~Reviewer();
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;

  // The callback is called once, perhaps before the function returns; not any more once the Reviewer is destroyed,
  // which a callback must not do.
  void authenticate(const std::string& token, OnToken on_token);
  void authorize(const Identity& identity, const Access& access, OnAccess on_access);

  Counters counters() const;  // [any]

 private:
  template <class Decision>
  class Questions;
  std::unique_ptr<Questions<TokenDecision>> tokens_;
  std::unique_ptr<Questions<AccessDecision>> accesses_;
  const std::vector<std::string> audiences_;
};

}  // namespace koord::kubeauth
