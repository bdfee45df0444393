// SPDX-License-Identifier: Apache-2.0
// HookModule: keeps the answers of runtime hooks for existing pods (hook/kept_answers), on a separate thread, because a
// hook may be slow. Reports containers that run without values which can only be set at creation. Public functions and
// request(): [loop thread]. step(), running(), ask() and the members of a step: [strand].
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/event/strand.hpp"
#include "core/event/timer.hpp"
#include "core/event/worker_pool.hpp"
#include "core/hook/creations.hpp"
#include "core/hook/kept_answers.hpp"
#include "core/hook/missed_fields.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "core/kube/events.hpp"

namespace koord::agentd {

// Returns the uid of the agent's own pod; empty: unknown.
std::string own_pod_uid();

// The time within which the kept answers must propose the values of a new container. After this time, values that were
// not proposed are reverted.
inline constexpr Duration kUnproposedTime = std::chrono::seconds(30);

class HookModule {
 public:
  // Returns the running hooks that name one of these stages (KOORD_STAGE_*). [any thread]
  using Find = std::function<std::vector<host::HookTarget>(std::uint32_t stages)>;

  // Writes an Event to the cluster. [loop thread]
  using RecordEvent = std::function<void(kube::EventInput)>;

  // The services and the creations must outlive this object.
  HookModule(const Services& services, hook::Creations& creations, Find find, RecordEvent record_event);
  ~HookModule();

  // Starts the checks for changes: periodically, and immediately after a change of the state.
  void start();
  // Stops. Waits for the running call, at most until its deadline.
  void stop();

 private:
  struct Alive {};

  void request();
  void step();
  std::vector<hook::RunningHook> running();
  void report(const hook::MissedFields::Missed& missed);
  void publish(const std::map<std::string, std::size_t>& missed);
  host::HookReply ask(const hook::RunningHook& running, std::shared_ptr<const host::HookSubject> subject);

  const Services& services_;
  hook::Creations& creations_;
  const Find find_;
  const RecordEvent record_event_;
  host::HookDispatcher dispatcher_;
  hook::MissedFields missed_;
  hook::KeptAnswers answers_;
  std::vector<host::PluginStatus> plugins_;  // plugins of the current step
  std::vector<host::HookTarget> targets_;    // hooks of the current step
  std::atomic<bool> is_requested_ = false;
  std::uint64_t subscription_ = 0;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<event::WorkerPool> thread_;  // created with the first hook
  std::unique_ptr<event::Strand> strand_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  const std::weak_ptr<Alive> is_alive_ = alive_;  // [any thread]
};

}  // namespace koord::agentd
