// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/reviewer.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/kubeauth/decisions.hpp"
#include "core/kubeauth/recent_set.hpp"

namespace koord::kubeauth {
namespace {

// Questions that were answered with a yes at most so long ago, at least.
constexpr Duration kAcceptedBefore = std::chrono::minutes(10);

bool is_yes(const TokenDecision& decision) { return decision.outcome == TokenDecision::Outcome::authenticated; }
bool is_yes(const AccessDecision& decision) { return decision.outcome == AccessDecision::Outcome::allowed; }

template <class Decision>
ReviewBudget::Answer answer_in(const Decision& decision) {
  using Answer = ReviewBudget::Answer;
  if (decision.outcome == Decision::Outcome::unavailable) return Answer::none;
  return is_yes(decision) ? Answer::yes : Answer::no;
}

// The client that pays for a question about rights. The node of a pod is a part of it, because all agents are one user.
std::string client_of(const Identity& identity) {
  return identity.user + ' ' + std::string(identity.node_name().value_or(""));
}

}  // namespace

// Questions of one kind: decisions that are kept, and questions without an answer so far.
template <class Decision>
class Reviewer::Questions {
 public:
  using OnDecision = std::function<void(const Decision&)>;
  using Judge = std::function<Decision(const Result<kube::Reply>&)>;

  Questions(event::Loop& loop, const Clock& clock, kube::Client& client, const ReviewerOptions& options, Judge judge)
      : loop_(loop),
        clock_(clock),
        client_(client),
        timeout_(options.timeout),
        judge_(std::move(judge)),
        yes_(options.keep, options.entries, options.bytes),
        no_(std::min(options.keep, kKeepRefusal), options.refusals, options.refusal_bytes),
        accepted_(kAcceptedBefore, options.entries),
        budget_(options.budget) {}

  // `question` names what `make_call` asks; `client` pays for it.
  template <class MakeCall>
  void ask(std::string client, std::string question, const MakeCall& make_call, OnDecision on_decision) {
    if (const Decision* kept = find_kept(question)) {
      ++from_memory;
      const Decision decision = *kept;  // the callback may ask again
      return on_decision(decision);
    }
    if (const auto open = open_.find(question); open != open_.end()) {
      open->second.waiting.push_back(std::move(on_decision));
      return;
    }
    std::optional<std::string> payer;
    if (!accepted_.contains(question, clock_.now())) {
      payer = budget_.take(std::move(client), clock_.now());
      if (!payer) return refuse_as_limited(on_decision);
    }
    ++sent;
    Open& open = open_[question];
    open.payer = std::move(payer);
    open.waiting.push_back(std::move(on_decision));
    open.deadline = loop_.after(timeout_, [this, question] { give_up(question); });
    open.call = make_call();
    send(question, open);
  }

  std::atomic<std::uint64_t> sent = 0, from_memory = 0, limited = 0, unavailable = 0;

 private:
  struct Open {
    kube::Call call;
    std::optional<std::string> payer;  // nullopt: it was answered with yes not long ago, and costs nothing
    bool was_lost = false;
    kube::Client::PendingPtr pending;
    std::unique_ptr<event::Timer> deadline;
    std::vector<OnDecision> waiting;
  };

  const Decision* find_kept(const std::string& question) {
    const Decision* kept = yes_.find(question, clock_.now());
    return kept ? kept : no_.find(question, clock_.now());
  }

  void refuse_as_limited(const OnDecision& on_decision) {
    ++limited;
    Decision decision;
    decision.is_limited = true;
    decision.message = "too many questions about this client were answered with no, or wait for an answer";
    on_decision(decision);
  }

  void send(const std::string& question, Open& open) {
    open.pending = client_.send(open.call, [this, question](const Result<kube::Reply>& reply) {
      if (!reply && send_again(question)) return;
      end(question, judge_(reply));
    });
  }

  // A review changes nothing, so one that was lost, for example on a kept connection that the server was closing, is
  // sent once more. `question` is a copy: the callback that holds the other ends here.
  bool send_again(std::string question) {
    const auto found = open_.find(question);
    if (found == open_.end() || found->second.was_lost) return false;
    found->second.was_lost = true;
    send(question, found->second);
    return true;
  }

  // `question` is a copy: the task that holds the other ends here.
  void give_up(std::string question) {
    Decision decision;
    decision.message = "the API server did not answer in time";
    end(std::move(question), std::move(decision));
  }

  void end(std::string question, Decision decision) {
    const auto found = open_.find(question);
    if (found == open_.end()) return;
    const Open open = std::move(found->second);
    open_.erase(found);
    const bool is_unavailable = decision.outcome == Decision::Outcome::unavailable;
    if (is_unavailable) unavailable += open.waiting.size();
    if (open.payer) budget_.end(*open.payer, answer_in(decision), clock_.now());
    if (!is_unavailable) keep(std::move(question), decision);
    for (const OnDecision& on_decision : open.waiting) on_decision(decision);
  }

  void keep(std::string question, const Decision& decision) {
    if (is_yes(decision))
      accepted_.add(question, clock_.now());
    else
      accepted_.remove(question);
    (is_yes(decision) ? yes_ : no_).add(std::move(question), decision, clock_.now());
  }

  event::Loop& loop_;
  const Clock& clock_;
  kube::Client& client_;
  const Duration timeout_;
  const Judge judge_;
  Decisions<Decision> yes_, no_;  // apart, so that a flood of refusals leaves the others in memory
  RecentSet accepted_;            // questions
  ReviewBudget budget_;
  std::unordered_map<std::string, Open> open_;
};

Reviewer::Reviewer(event::Loop& loop, const Clock& clock, kube::Client& client, ReviewerOptions options)
    : tokens_(std::make_unique<Questions<TokenDecision>>(
          loop, clock, client, options,
          [audiences = options.audiences](const Result<kube::Reply>& reply) { return judge_token(reply, audiences); })),
      accesses_(std::make_unique<Questions<AccessDecision>>(loop, clock, client, options, judge_access)),
      audiences_(std::move(options.audiences)) {}

Reviewer::~Reviewer() = default;

void Reviewer::authenticate(const std::string& client, const std::string& token, OnToken on_token) {
  if (!may_be_token(token)) {
    TokenDecision refused;
    refused.outcome = TokenDecision::Outcome::refused;
    refused.message = "found no token of printable ASCII with at most 16 KiB";
    return on_token(refused);
  }
  tokens_->ask(
      client, token, [&] { return token_review_call(token, audiences_); }, std::move(on_token));
}

void Reviewer::authorize(const Identity& identity, const Access& access, OnAccess on_access) {
  kube::Call call = access_review_call(identity, access);
  std::string question = call.body;
  accesses_->ask(
      client_of(identity), std::move(question), [&] { return std::move(call); }, std::move(on_access));
}

Reviewer::Counters Reviewer::counters() const {
  return {.token_reviews = tokens_->sent,
          .access_reviews = accesses_->sent,
          .kept = tokens_->from_memory + accesses_->from_memory,
          .limited = tokens_->limited + accesses_->limited,
          .unavailable = tokens_->unavailable + accesses_->unavailable};
}

}  // namespace koord::kubeauth
