// SPDX-License-Identifier: Apache-2.0
#include "core/kube/evictor.hpp"

#include <utility>

namespace koord::kube {

// One eviction: waits for the version, then sends the request.
class Evictor::Run final : public Client::Pending {
 public:
  Run(Evictor& evictor, PodToEvict pod, OnAnswer on_answer)
      : evictor_(evictor), pod_(std::move(pod)), on_answer_(std::move(on_answer)) {
    if (evictor_.version_)
      evict(false);
    else
      evictor_.wait_for_version(*this);
  }
  // A run that has sent its eviction is not in waiting_, and may outlive the evictor.
  ~Run() override {
    if (!evicting_) std::erase(evictor_.waiting_, this);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool was_sent() const override { return evicting_ && pending_ && pending_->was_sent(); }

  // Sends the eviction. `asked`: the version was just read.
  void evict(bool asked) {
    evicting_ = true;
    pending_ = evictor_.client_.send(eviction_call(*evictor_.version_, pod_), [this, asked](Result<Reply> reply) {
      if (!reply && was_sent())
        return end(EvictionAnswer{EvictionAnswer::Outcome::unanswered, reply.error().message()});
      if (!reply) return end(std::move(reply).error());
      // A server with a different API version has replaced the earlier server.
      const bool other_version = !asked && (reply->status == 400 || reply->status == 415);
      if (other_version) {
        evicting_ = false;
        return evictor_.wait_for_version(*this);
      }
      end(classify_eviction(*reply, pod_.name));
    });
  }

  // Ends the run. Must be the last call, because the callback may destroy this object.
  void end(Result<EvictionAnswer> answer) {
    OnAnswer on_answer = std::exchange(on_answer_, {});
    on_answer(std::move(answer));
  }

 private:
  Evictor& evictor_;
  PodToEvict pod_;
  OnAnswer on_answer_;
  Client::PendingPtr pending_;
  bool evicting_ = false;  // pending_ is the eviction request
};

Evictor::Evictor(Client& client) : client_(client) {}
Evictor::~Evictor() = default;

Client::PendingPtr Evictor::evict(PodToEvict pod, OnAnswer on_answer) {
  return std::make_unique<Run>(*this, std::move(pod), std::move(on_answer));
}

void Evictor::wait_for_version(Run& run) {
  waiting_.push_back(&run);
  if (!asking_) ask("/api/v1", &Evictor::on_resources);
}

void Evictor::ask(std::string target, Then then) {
  Call call;
  call.target = std::move(target);
  const std::string right = "get " + call.target;
  asking_ = client_.send(std::move(call), [this, then, right](Result<Reply> reply) {
    if (!reply) {
      const Error error = std::move(reply).error().context("asking which version of evictions the server takes");
      return end_asking([&error](Run& run) { run.end(error); });
    }
    // A server answers, but lacks this group.
    if (reply->status == 404) return (this->*then)("{}");
    if (!reply->ok()) {
      EvictionAnswer answer = classify_eviction(*reply, {}, right);
      // The failed request was for the versions, so no eviction was sent.
      if (answer.outcome == EvictionAnswer::Outcome::unanswered) answer.outcome = EvictionAnswer::Outcome::busy;
      return end_asking([&answer](Run& run) { run.end(answer); });
    }
    (this->*then)(std::move(reply->body));
  });
}

void Evictor::on_resources(std::string resources) {
  resources_ = std::move(resources);
  ask("/apis/policy", &Evictor::on_group);
}

void Evictor::on_group(std::string group) {
  Result<std::optional<std::string>> version = find_eviction_version(group, std::exchange(resources_, {}));
  if (!version) {
    const Error error = std::move(version).error().context("versions of the server");
    return end_asking([&error](Run& run) { run.end(error); });
  }
  if (!*version) {
    const EvictionAnswer none{EvictionAnswer::Outcome::unsupported,
                              "the server has no pods/eviction of policy/v1 or policy/v1beta1"};
    return end_asking([&none](Run& run) { run.end(none); });
  }
  version_ = *std::move(version);
  end_asking([](Run& run) { run.evict(true); });
}

// Ends the request for the version. A callback may destroy any waiting run, or start a new eviction.
void Evictor::end_asking(const std::function<void(Run&)>& answer) {
  const Client::PendingPtr asked = std::move(asking_);
  for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty(); --left) {
    Run* run = waiting_.front();
    waiting_.erase(waiting_.begin());
    answer(*run);
  }
}

}  // namespace koord::kube
