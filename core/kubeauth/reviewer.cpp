// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/reviewer.hpp"

#include <atomic>
#include <unordered_map>
#include <utility>

#include "core/kubeauth/decisions.hpp"

namespace koord::kubeauth {

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
        most_open_(options.open),
        timeout_(options.timeout),
        judge_(std::move(judge)),
        kept_(options.keep, options.entries, options.bytes) {}

  // `question` names what `make_call` asks.
  template <class MakeCall>
  void ask(std::string question, const MakeCall& make_call, OnDecision on_decision) {
    if (const Decision* kept = kept_.find(question, clock_.now())) {
      ++from_memory;
      const Decision decision = *kept;  // the callback may ask again
      return on_decision(decision);
    }
    if (const auto open = open_.find(question); open != open_.end()) {
      open->second.waiting.push_back(std::move(on_decision));
      return;
    }
    if (open_.size() >= most_open_) return tell_unavailable("too many reviews wait for the API server", on_decision);
    ++sent;
    Open& open = open_[question];
    open.waiting.push_back(std::move(on_decision));
    open.deadline = loop_.after(timeout_, [this, question] { give_up(question); });
    open.call = make_call();
    send(question, open);
  }

  std::atomic<std::uint64_t> sent = 0, from_memory = 0, unavailable = 0;

 private:
  struct Open {
    kube::Call call;
    bool was_lost = false;
    kube::Client::PendingPtr pending;
    std::unique_ptr<event::Timer> deadline;
    std::vector<OnDecision> waiting;
  };

  void tell_unavailable(std::string why, const OnDecision& on_decision) {
    ++unavailable;
    Decision decision;
    decision.message = std::move(why);
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
    if (decision.outcome == Decision::Outcome::unavailable)
      unavailable += open.waiting.size();
    else
      kept_.add(std::move(question), decision, clock_.now());
    for (const OnDecision& on_decision : open.waiting) on_decision(decision);
  }

  event::Loop& loop_;
  const Clock& clock_;
  kube::Client& client_;
  const std::size_t most_open_;
  const Duration timeout_;
  const Judge judge_;
  Decisions<Decision> kept_;
  std::unordered_map<std::string, Open> open_;
};

Reviewer::Reviewer(event::Loop& loop, const Clock& clock, kube::Client& client, ReviewerOptions options)
    : tokens_(std::make_unique<Questions<TokenDecision>>(
          loop, clock, client, options,
          [audiences = options.audiences](const Result<kube::Reply>& reply) { return judge_token(reply, audiences); })),
      accesses_(std::make_unique<Questions<AccessDecision>>(loop, clock, client, options, judge_access)),
      audiences_(std::move(options.audiences)) {}

Reviewer::~Reviewer() = default;

void Reviewer::authenticate(const std::string& token, OnToken on_token) {
  if (!may_be_token(token)) {
    TokenDecision refused;
    refused.outcome = TokenDecision::Outcome::refused;
    refused.message = "found no token of printable ASCII with at most 16 KiB";
    return on_token(refused);
  }
  tokens_->ask(
      token, [&] { return token_review_call(token, audiences_); }, std::move(on_token));
}

void Reviewer::authorize(const Identity& identity, const Access& access, OnAccess on_access) {
  kube::Call call = access_review_call(identity, access);
  std::string question = call.body;
  accesses_->ask(
      std::move(question), [&] { return std::move(call); }, std::move(on_access));
}

Reviewer::Counters Reviewer::counters() const {
  return {.token_reviews = tokens_->sent,
          .access_reviews = accesses_->sent,
          .kept = tokens_->from_memory + accesses_->from_memory,
          .unavailable = tokens_->unavailable + accesses_->unavailable};
}

}  // namespace koord::kubeauth
