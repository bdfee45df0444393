// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/reviewer.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/kubeauth/claimed_subject.hpp"
#include "core/kubeauth/decisions.hpp"
#include "core/kubeauth/recent_set.hpp"
#include "core/kubeauth/review_line.hpp"

namespace koord::kubeauth {
namespace {

// The minimum time for which a question that was answered with yes costs nothing.
constexpr Duration kAcceptedBefore = std::chrono::minutes(10);
// Shorter than the timeout of agents' reports.
constexpr Duration kLongestWait = std::chrono::seconds(4);
constexpr Duration kTurnPeriod = std::chrono::milliseconds(100);

bool is_yes(const TokenDecision& decision) { return decision.outcome == TokenDecision::Outcome::authenticated; }
bool is_yes(const AccessDecision& decision) { return decision.outcome == AccessDecision::Outcome::allowed; }

template <class Decision>
ReviewBudget::Answer answer_in(const Decision& decision) {
  using Answer = ReviewBudget::Answer;
  if (decision.outcome == Decision::Outcome::unavailable) return Answer::none;
  return is_yes(decision) ? Answer::yes : Answer::no;
}

// Returns the client that pays for a question about rights. It includes the node of the pod, because all agents are the
// same user.
std::string client_of(const Identity& identity) {
  return identity.user + ' ' + std::string(identity.node_name().value_or(""));
}

}  // namespace

// Questions of one kind: kept decisions, and questions without an answer so far. A question waits in a line if its
// client has no budget. Questions about recently accepted subjects have their own line.
template <class Decision>
class Reviewer::Questions {
 public:
  using OnDecision = std::function<void(const Decision&)>;
  using Judge = std::function<Decision(const Result<kube::Reply>&)>;
  using MakeCall = std::function<kube::Call(const std::string& question)>;
  using Place = ReviewLine::Place;

  Questions(event::Loop& loop, const Clock& clock, kube::Client& client, const ReviewerOptions& options,
            MakeCall make_call, Judge judge)
      : loop_(loop),
        clock_(clock),
        client_(client),
        timeout_(options.timeout),
        make_call_(std::move(make_call)),
        judge_(std::move(judge)),
        yes_(options.keep, options.entries, options.bytes),
        no_(std::min(options.keep, kKeepRefusal), options.refusals, options.refusal_bytes),
        accepted_(kAcceptedBefore, options.entries),
        known_(kAcceptedBefore, options.entries),
        budget_(options.budget),
        lines_(options.line) {}

  // Asks a question. `client` pays for it. `find_subject` returns the subject that the question claims, which selects
  // the client's lane; "" for the lane without a subject.
  template <class FindSubject>
  void ask(std::string client, std::string question, const FindSubject& find_subject, OnDecision on_decision) {
    if (const Decision* kept = find_kept(question)) {
      ++from_memory;
      const Decision decision = *kept;  // the callback may ask again
      return on_decision(decision);
    }
    if (const auto open = open_.find(question); open != open_.end()) {
      open->second.waiting.push_back(std::move(on_decision));
      return;
    }
    Open& open = open_[question];
    open.place = {.client = std::move(client), .lane = find_subject(question), .question = question};
    open.waiting.push_back(std::move(on_decision));
    if (accepted_.contains(question, clock_.now())) return send(open);
    if (may_ask_at_once(open.place.client) && pay(open, open.place.client)) return send(open);
    wait(open);
  }

  std::atomic<std::uint64_t> sent = 0, from_memory = 0, limited = 0, unavailable = 0;

 private:
  struct Open {
    Place place;
    kube::Call call;                   // set when it is sent
    std::optional<std::string> payer;  // nullopt: it was recently answered with yes, and costs nothing
    bool was_lost = false;
    kube::Client::PendingPtr pending;
    std::unique_ptr<event::Timer> deadline;
    std::vector<OnDecision> waiting;
  };

  const Decision* find_kept(const std::string& question) {
    const Decision* kept = yes_.find(question, clock_.now());
    return kept ? kept : no_.find(question, clock_.now());
  }

  // Returns whether a question of this client may be sent now, without overtaking waiting questions.
  bool may_ask_at_once(const std::string& client) { return !waits_for_all_ && !lines_.contains(client); }

  bool pay(Open& open, const std::string& client) {
    open.payer = budget_.take(client, clock_.now());
    return open.payer.has_value();
  }

  void wait(Open& open) {
    waits_for_all_ = waits_for_all_ || budget_.is_used_up(clock_.now());
    const Place& place = open.place;
    open.deadline = loop_.after(kLongestWait, [this, question = place.question] { end_limited(question); });
    if (!turns_) turns_ = loop_.every(kTurnPeriod, [this] { take_turns(); });
    const bool is_known = !place.lane.empty() && known_.contains(place.lane, clock_.now());
    if (std::optional<std::string> dropped = lines_.add(place, is_known)) end_limited(*dropped);
  }

  // Sends all waiting questions that may be sent now.
  void take_turns() {
    while (lines_.size() != 0) {
      waits_for_all_ = budget_.is_used_up(clock_.now());
      if (waits_for_all_) return;
      std::optional<std::string> payer;
      const auto may_ask = [&](const std::string& client) {
        payer = budget_.take(client, clock_.now());
        return payer.has_value();
      };
      const std::optional<Place> next = lines_.take(may_ask);
      if (!next) return;
      send_waiting(*next, std::move(payer));
    }
    waits_for_all_ = false;
    turns_.reset();
  }

  // Sends a waiting question of this client, after an answer to a different question.
  void take_turn_of(const std::string& client) {
    if (waits_for_all_) return take_turns();
    if (!lines_.contains(client)) return;
    std::optional<std::string> payer = budget_.take(client, clock_.now());
    if (!payer) return;
    send_waiting(*lines_.take_of(client), std::move(payer));
  }

  void send_waiting(const Place& place, std::optional<std::string> payer) {
    const auto found = open_.find(place.question);
    found->second.payer = std::move(payer);
    send(found->second);
  }

  // Ends a question that has waited too long. `question` is a copy, because the task that owns the original ends here.
  void end_limited(std::string question) {
    const auto found = open_.find(question);
    if (found == open_.end()) return;
    const Open open = std::move(found->second);
    open_.erase(found);
    lines_.remove(open.place);
    limited += open.waiting.size();
    Decision decision;
    decision.is_limited = true;
    decision.message = "too many questions about this client were answered with no, or wait for an answer";
    for (const OnDecision& on_decision : open.waiting) on_decision(decision);
  }

  void send(Open& open) {
    ++sent;
    open.deadline = loop_.after(timeout_, [this, question = open.place.question] { give_up(question); });
    open.call = make_call_(open.place.question);
    send_call(open);
  }

  void send_call(Open& open) {
    open.pending = client_.send(open.call, [this, question = open.place.question](const Result<kube::Reply>& reply) {
      if (!reply && send_again(question)) return;
      end(question, judge_(reply));
    });
  }

  // Sends a lost review again, once. This is safe, because a review changes nothing. It may be lost on a kept
  // connection that the server was closing. `question` is a copy, because the callback that owns the original ends
  // here.
  bool send_again(std::string question) {
    const auto found = open_.find(question);
    if (found == open_.end() || found->second.was_lost) return false;
    found->second.was_lost = true;
    send_call(found->second);
    return true;
  }

  // Ends a question without an answer. `question` is a copy, because the task that owns the original ends here.
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
    if (!is_unavailable) keep(std::move(question), open.place.lane, decision);
    take_turn_of(open.place.client);
    for (const OnDecision& on_decision : open.waiting) on_decision(decision);
  }

  void keep(std::string question, const std::string& subject, const Decision& decision) {
    if (is_yes(decision)) {
      accepted_.add(question, clock_.now());
      if (!subject.empty()) known_.add(subject, clock_.now());
    } else {
      accepted_.remove(question);
    }
    (is_yes(decision) ? yes_ : no_).add(std::move(question), decision, clock_.now());
  }

  event::Loop& loop_;
  const Clock& clock_;
  kube::Client& client_;
  const Duration timeout_;
  const MakeCall make_call_;
  const Judge judge_;
  Decisions<Decision> yes_, no_;  // separate, so a flood of refusals does not remove the accepted decisions
  RecentSet accepted_;            // questions that were recently accepted
  RecentSet known_;               // subjects that were recently accepted
  ReviewBudget budget_;
  ReviewLines lines_;
  bool waits_for_all_ = false;           // questions wait because the budget of all clients is used up
  std::unique_ptr<event::Timer> turns_;  // exists while questions wait
  std::unordered_map<std::string, Open> open_;
};

Reviewer::Reviewer(event::Loop& loop, const Clock& clock, kube::Client& client, ReviewerOptions options)
    : tokens_(std::make_unique<Questions<TokenDecision>>(
          loop, clock, client, options,
          [audiences = options.audiences](const std::string& token) { return token_review_call(token, audiences); },
          [audiences = options.audiences](const Result<kube::Reply>& reply) { return judge_token(reply, audiences); })),
      accesses_(std::make_unique<Questions<AccessDecision>>(
          loop, clock, client, options, [](const std::string& body) { return access_review_call(body); },
          judge_access)) {}

Reviewer::~Reviewer() = default;

void Reviewer::authenticate(const std::string& client, const std::string& token, OnToken on_token) {
  if (!may_be_token(token)) {
    TokenDecision refused;
    refused.outcome = TokenDecision::Outcome::refused;
    refused.message = "found no token of printable ASCII with at most 16 KiB";
    return on_token(refused);
  }
  tokens_->ask(client, token, claimed_subject, std::move(on_token));
}

void Reviewer::authorize(const Identity& identity, const Access& access, OnAccess on_access) {
  accesses_->ask(
      client_of(identity), access_review_body(identity, access), [](const std::string&) { return std::string(); },
      std::move(on_access));
}

Reviewer::Counters Reviewer::counters() const {
  return {.token_reviews = tokens_->sent,
          .access_reviews = accesses_->sent,
          .kept = tokens_->from_memory + accesses_->from_memory,
          .limited = tokens_->limited + accesses_->limited,
          .unavailable = tokens_->unavailable + accesses_->unavailable};
}

}  // namespace koord::kubeauth
