// SPDX-License-Identifier: Apache-2.0
// NriHooks: gives the answers of runtime hooks to the container runtime when it makes or updates a container, through
// its NRI socket (hook/nri). It connects when the first hook runs. Hooks are asked on a thread of its own, all within
// hooks.deadline; a value that comes later, and all values of a pod, are set by the kept answers (agentd/hooks).
// Functions and events: [loop thread]; answer_*(): [its thread].
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/timer.hpp"
#include "core/event/worker_pool.hpp"
#include "core/hook/creation.hpp"
#include "core/hook/creations.hpp"
#include "core/hook/nri/client.hpp"
#include "core/host/hook_dispatcher.hpp"

namespace koord::agentd {

class NriHooks final : public nri::Events {
 public:
  // Returns the running hooks that name one of these stages (KOORD_STAGE_*). [any thread]
  using Find = std::function<std::vector<host::HookTarget>(std::uint32_t stages)>;

  // The services and the creations outlive it.
  // `keep`: the annotations of pods that hooks may read.
  NriHooks(const Services& services, const config::HookConfig& config, hook::Creations& creations, Find find,
           nri::KeepAnnotation keep);
  ~NriHooks() override;

  // From now on it connects when a hook runs.
  void start();
  // Ends the connection, and waits for the running call, at most until its deadline.
  void stop();

 private:
  void connected(const nri::Runtime& runtime) override;
  void disconnected(const Error& why) override;
  void run_pod_sandbox(const nri::Pod& pod, nri::Done<nri::PodAnswer> done) override;
  void create_container(const nri::Pod& pod, const nri::Container& container,
                        nri::Done<nri::CreateAnswer> done) override;
  void update_container(const nri::Pod& pod, const nri::Container& container, const nri::Resources& resources,
                        nri::Done<nri::UpdateAnswer> done) override;
  void notify(nri::Stage stage, const nri::Pod& pod, const nri::Container& container) override;
  void late(nri::Stage stage, const std::string& id) override;

  void connect_if_needed();
  std::vector<host::HookTarget> hooks(std::uint32_t stage) const;
  // Posts a request to the hooks of the stage. Returns whether there is one to ask; else the caller answers.
  bool ask(std::uint32_t stage, const nri::Pod& pod, const nri::Container* container,
           std::function<void(host::HookVerdict)> then);
  hook::OtherPartsOf other_parts(std::uint32_t stage, const nri::Container& container,
                                 const host::HookVerdict& verdict) const;
  void log_verdict(const host::HookVerdict& verdict, const state::Pod& pod, const std::string& container) const;
  void remember(hook::CreationRecord record);
  void publish();

  struct Alive {};

  const Services& services_;
  const config::HookConfig config_;
  hook::Creations& creations_;
  const Find find_;
  const nri::KeepAnnotation keep_;
  const std::string own_uid_;
  const bool is_v2_;
  host::HookDispatcher dispatcher_;
  std::unique_ptr<nri::Client> client_;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<event::WorkerPool> thread_;  // from the first hook on
  ProblemTracker problems_;                    // [its thread]
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace koord::agentd
