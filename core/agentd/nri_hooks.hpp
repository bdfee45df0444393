// SPDX-License-Identifier: Apache-2.0
// NriHooks: passes the answers of runtime hooks to the container runtime when it creates or updates a container,
// through its NRI socket (hook/nri). It connects when the first hook runs. HookQuestions asks the hooks, all within
// hooks.deadline. Later values, and all values of pods, are set by the kept answers (agentd/hooks). Functions and
// events: [loop thread].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/agentd/hook_questions.hpp"
#include "core/agentd/services.hpp"
#include "core/api/hook_source.hpp"
#include "core/config/config.hpp"
#include "core/event/timer.hpp"
#include "core/hook/creation.hpp"
#include "core/hook/creations.hpp"
#include "core/hook/nri/client.hpp"

namespace koord::agentd {

class NriHooks final : public nri::Events {
 public:
  // The services, the creations and the questions must outlive this object. `keep`: the pod annotations that hooks may
  // read.
  NriHooks(const Services& services, const config::HookConfig& config, hook::Creations& creations,
           HookQuestions& questions, nri::KeepAnnotation keep);
  ~NriHooks() override;

  // Starts polling for running hooks, and connects when a hook runs.
  void start();
  // Ends the connection.
  void stop();

  // Returns the state of the connection, for operators.
  api::HookConnection connection() const;

 private:
  void connected(const nri::Runtime& runtime) override;
  void disconnected(const Error& why) override;
  void synchronize(std::vector<nri::Pod> pods, std::vector<nri::Container> containers,
                   nri::Done<nri::UpdateAnswer> done) override;
  void run_pod_sandbox(const nri::Pod& pod, nri::Done<nri::PodAnswer> done) override;
  void create_container(const nri::Pod& pod, const nri::Container& container,
                        nri::Done<nri::CreateAnswer> done) override;
  void update_container(const nri::Pod& pod, const nri::Container& container, const nri::Resources& resources,
                        nri::Done<nri::UpdateAnswer> done) override;
  void notify(nri::Stage stage, const nri::Pod& pod, const nri::Container& container) override;
  void late(nri::Stage stage, const std::string& id) override;

  void connect_if_needed();
  // Asks the hooks of the stage. Returns false if the stage has no hook; in that case the caller must answer.
  bool ask(std::uint32_t stage, const nri::Pod& pod, const nri::Container* container, const nri::Resources* requested,
           HookQuestions::Then then);
  void set_connected(bool is_connected);

  struct Alive {};

  const Services& services_;
  const config::HookConfig config_;
  hook::Creations& creations_;
  HookQuestions& questions_;
  const nri::KeepAnnotation keep_;
  const bool is_v2_;
  std::unique_ptr<nri::Client> client_;
  std::unique_ptr<event::Timer> timer_;
  Time since_{};  // the time of the last connect or disconnect
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace koord::agentd
