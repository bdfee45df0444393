// SPDX-License-Identifier: Apache-2.0
// HookCall: one request to one runtime hook. The caller waits for it until its deadline and then goes on without; the
// hook, which may still be running, keeps its arguments alive, and its late answer is refused. Held by shared_ptr by
// both. [any thread]
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/host/hook_response.hpp"
#include "core/host/runner.hpp"
#include "core/service/snapshot_view.hpp"
#include "core/state/pod.hpp"

namespace koord::host {

// An action that a container runtime is about to do, or has done.
struct HookRequest {
  std::uint32_t stage = 0;  // one KOORD_STAGE_*
  state::Pod pod;
  std::optional<state::Container> container;  // none at the pod stages
  std::string node_slo;                       // as in koord.state/1
  std::string cri_json;                       // the runtime's own request
};

// A request in the records of the ABI; shared by the calls of all hooks.
class HookSubject {
 public:
  explicit HookSubject(HookRequest request);

  koord_hook_request record(Time deadline) const;
  std::uint32_t stage() const { return stage_; }

 private:
  const std::uint32_t stage_;
  const std::string cri_json_;
  const service::SnapshotView view_;  // the pod, and the container outside of it
};

struct HookReply {
  enum class Kind { answered, failed, timed_out };
  Kind kind = Kind::timed_out;
  std::string text;       // of a failure, clean
  HookSettings settings;  // of an answer
  Duration took = {};     // from the question on
};

class HookCall {
 public:
  using Steady = std::chrono::steady_clock;

  // `patience`: until the deadline, which the hook gets in host time.
  HookCall(std::shared_ptr<const HookSubject> subject, Time now, Duration patience);

  // For the hook's side. Unless it is too late: makes the call.
  using Handle = std::function<service::CallResult(const koord_hook_request&, const koord_hook_response&)>;
  void run(const koord_host* host, HookReach reach, const Handle& handle);
  // There will be no call.
  void fail(const std::string& text);
  Duration patience() const { return patience_; }

  // For the asking side: waits, at most until the deadline. Once.
  HookReply await();

 private:
  void answer(HookReply reply);
  Duration age() const;

  const std::shared_ptr<const HookSubject> subject_;
  const Duration patience_;
  const Time deadline_;
  const Steady::time_point due_;

  std::mutex mutex_;  // of what follows
  std::condition_variable answered_;
  std::optional<HookReply> reply_;
  bool given_up_ = false;
  HookResponse* response_ = nullptr;  // of the call that runs
};

}  // namespace koord::host
