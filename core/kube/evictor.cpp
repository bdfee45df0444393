// SPDX-License-Identifier: Apache-2.0
#include "core/kube/evictor.hpp"

#include <utility>

namespace koord::kube {

// One eviction: the version, when it is not known yet, then the request.
class Evictor::Run final : public Client::Pending {
 public:
  Run(Evictor& evictor, PodToEvict pod, OnAnswer on_answer)
      : evictor_(evictor), pod_(std::move(pod)), on_answer_(std::move(on_answer)) {
    if (evictor_.version_) {
      evict();
    } else {
      ask("/api/v1", &Run::on_resources);
    }
  }

  bool was_sent() const override { return evicting_ && pending_ && pending_->was_sent(); }

 private:
  void ask(std::string target, void (Run::*then)(std::string)) {
    evicting_ = false;
    Call call;
    call.target = std::move(target);
    pending_ = evictor_.client_.send(std::move(call), [this, then](Result<Reply> reply) {
      if (!reply) return end(std::move(reply).error().context("asking which version of evictions the server takes"));
      // Some server is there, without this group.
      if (reply->status == 404) return (this->*then)("{}");
      if (!reply->ok()) return end(not_sent(classify_eviction(*reply)));
      (this->*then)(std::move(reply->body));
    });
  }

  void on_resources(std::string resources) {
    resources_ = std::move(resources);
    ask("/apis/policy", &Run::on_group);
  }

  void on_group(std::string group) {
    Result<std::optional<std::string>> version = find_eviction_version(group, resources_);
    if (!version) return end(std::move(version).error().context("what the server says of its versions"));
    if (!*version) return end(EvictionAnswer{EvictionAnswer::Outcome::unsupported, "the server has no pods/eviction of policy/v1 or policy/v1beta1"});
    evictor_.version_ = *std::move(version);
    asked_ = true;
    evict();
  }

  // An answer about versions says nothing about an eviction.
  static EvictionAnswer not_sent(EvictionAnswer answer) {
    if (answer.outcome == EvictionAnswer::Outcome::unanswered) answer.outcome = EvictionAnswer::Outcome::busy;
    return answer;
  }

  void evict() {
    evicting_ = true;
    pending_ = evictor_.client_.send(eviction_call(*evictor_.version_, pod_), [this](Result<Reply> reply) {
      if (!reply && was_sent()) return end(EvictionAnswer{EvictionAnswer::Outcome::unanswered, reply.error().message()});
      if (!reply) return end(std::move(reply).error());
      // The server was replaced by one that speaks another version.
      const bool other_version = !asked_ && (reply->status == 400 || reply->status == 415);
      if (other_version) return ask("/api/v1", &Run::on_resources);
      end(classify_eviction(*reply));
    });
  }

  // Called last: it may destroy this.
  void end(Result<EvictionAnswer> answer) {
    OnAnswer on_answer = std::exchange(on_answer_, {});
    on_answer(std::move(answer));
  }

  Evictor& evictor_;
  PodToEvict pod_;
  OnAnswer on_answer_;
  Client::PendingPtr pending_;
  std::string resources_;
  bool asked_ = false;
  bool evicting_ = false;  // pending_ is the eviction
};

Evictor::Evictor(Client& client) : client_(client) {}
Evictor::~Evictor() = default;

Client::PendingPtr Evictor::evict(PodToEvict pod, OnAnswer on_answer) {
  return std::make_unique<Run>(*this, std::move(pod), std::move(on_answer));
}

}  // namespace koord::kube
