// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_call.hpp"

#include <utility>

#include "core/host/hook_text.hpp"

namespace koord::host {
namespace {

state::SnapshotPtr snapshot_of(HookRequest& request) {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions = {.pods = 1, .node_slo = 1};
  snapshot->pods.push_back(std::move(request.pod));
  if (request.container) snapshot->standalone.push_back(*std::move(request.container));
  snapshot->node_slo = std::move(request.node_slo);
  return snapshot;
}

}  // namespace

HookSubject::HookSubject(HookRequest request)
    : stage_(request.stage), cri_json_(std::move(request.cri_json)), view_(snapshot_of(request)) {}

koord_hook_request HookSubject::record(Time deadline) const {
  return {.struct_size = sizeof(koord_hook_request),
          .stage = stage_,
          .deadline_ns = to_ns(deadline),
          .pod = view_.pods().data(),
          .container = view_.standalone().empty() ? nullptr : view_.standalone().data(),
          .node_slo = view_.node_slo(),
          .cri_json = {cri_json_.data(), cri_json_.size()}};
}

HookCall::HookCall(std::shared_ptr<const HookSubject> subject, Time now, Duration patience)
    : subject_(std::move(subject)), patience_(patience), deadline_(now + patience), due_(Steady::now() + patience) {}

void HookCall::run(const koord_host* host, HookReach reach, const Handle& handle) {
  HookResponse response(host, reach);
  {
    std::lock_guard lock(mutex_);
    if (given_up_ || Steady::now() >= due_) return;  // an earlier call used up the time
    response_ = &response;
  }
  const service::CallResult result = handle(subject_->record(deadline_), response.table());
  {
    std::lock_guard lock(mutex_);
    response_ = nullptr;
  }
  if (!result.ok()) return answer({HookReply::Kind::failed, clean_hook_text(describe(result)), {}});
  answer({HookReply::Kind::answered, {}, response.close()});
}

void HookCall::fail(const std::string& text) { answer({HookReply::Kind::failed, clean_hook_text(text), {}}); }

void HookCall::answer(HookReply reply) {
  std::lock_guard lock(mutex_);
  if (given_up_) return;
  reply.took = age();
  reply_ = std::move(reply);
  answered_.notify_all();
}

HookReply HookCall::await() {
  std::unique_lock lock(mutex_);
  answered_.wait_until(lock, due_, [this] { return reply_.has_value(); });
  if (reply_) return *std::exchange(reply_, std::nullopt);
  given_up_ = true;
  if (response_) response_->close();
  HookReply reply;
  reply.took = age();
  return reply;
}

Duration HookCall::age() const { return std::chrono::duration_cast<Duration>(Steady::now() - (due_ - patience_)); }

}  // namespace koord::host
