// SPDX-License-Identifier: Apache-2.0
// HookQuestions: asks the runtime hooks about a pod or container that a runtime is about to create or update, for NRI
// (nri_hooks) and koord-cri-proxy (hook_answers). Asks all hooks of a stage at the same time, on its own threads.
// Leaves out hooks that are off, bypassed pods, and values that a pod's owner excludes. Logs each answer and records it
// as a decision. [any thread]
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/worker_pool.hpp"
#include "core/hook/answer_records.hpp"
#include "core/hook/composed_answers.hpp"
#include "core/hook/creations.hpp"
#include "core/hook/nri/types.hpp"
#include "core/host/hook_dispatcher.hpp"

namespace koord::agentd {

// A question. Its references are only used during the call of ask().
struct HookQuestion {
  std::uint32_t stage = 0;    // KOORD_STAGE_*
  std::string_view asked_by;  // "NRI"; a literal
  const nri::Pod& pod;
  const nri::Container* container = nullptr;  // null at the stages of pods
  const nri::Resources* requested = nullptr;  // null: the container's own
};

class HookQuestions {
 public:
  // Returns the running hooks that name one of these stages (KOORD_STAGE_*). [any thread]
  using Find = std::function<std::vector<host::HookTarget>(std::uint32_t stages)>;
  using Then = std::function<void(const host::HookVerdict&)>;

  // The maximum number of questions that wait for a thread or for hooks.
  static constexpr std::size_t kMostQuestions = 256;

  // The services and the creations must outlive this object.
  HookQuestions(const Services& services, const config::HookConfig& config, hook::Creations& creations, Find find);
  ~HookQuestions();

  // Posts a question to the hooks of the stage. `then` is called once, on a different thread. Returns false if the
  // stage has no hook; in that case the caller must answer.
  bool ask(const HookQuestion& question, Then then);
  // Posts a task to the same threads. It runs after the waiting questions.
  void post(std::function<void()> task);
  // Asks no hook from now on. Waits for the hooks that are answering a question, at most until their deadline.
  void stop();

  // Remembers the changes of a new container. Must be called before the runtime gets the answer.
  void remember(hook::CreationRecord record);
  // Returns the parts of the container's values that come from other sources than the asked hooks.
  hook::OtherPartsOf other_parts(std::uint32_t stage, std::string cgroup_dir, const host::HookVerdict& verdict) const;

  bool is_v2() const { return is_v2_; }
  // Returns the running hooks in any mode.
  std::vector<host::HookTarget> running(std::uint32_t stages) const { return find_(stages); }

 private:
  struct Asked;

  std::vector<host::HookTarget> hooks(std::uint32_t stage) const;
  bool post(std::size_t most, std::function<void()> task);
  bool is_bypassed(const state::Pod& pod) const;
  void count_bypassed(const char* reason) const;
  void answer(const std::shared_ptr<Asked>& asked, const Then& then);
  void log_verdict(const host::HookVerdict& verdict, const Asked& asked) const;
  nri::Resources resources_of(const Asked& asked, const host::HookVerdict& given) const;
  void record(const Asked& asked, const host::HookVerdict& answered, const host::HookVerdict& given);

  const Services& services_;
  const Duration deadline_;
  hook::Creations& creations_;
  const Find find_;
  const std::string own_uid_;
  const bool is_v2_;
  host::HookDispatcher dispatcher_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::mutex mutex_;
  std::unique_ptr<event::WorkerPool> threads_;  // created at the first post [mutex_]
  ProblemTracker problems_;                     // [mutex_]
};

}  // namespace koord::agentd
