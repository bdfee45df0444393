// SPDX-License-Identifier: Apache-2.0
// HookAnswers: the runtime hooks for the data API. It answers the questions of koord-cri-proxy as NriHooks answers
// those of the runtime, and reports connection, statistics and modes to operators. The proxy does not report the start
// of a container: the values that the runtime would have set are journaled when the state shows the container. [any
// thread]
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "core/agentd/hook_questions.hpp"
#include "core/agentd/services.hpp"
#include "core/api/hook_source.hpp"
#include "core/hook/nri/wire.hpp"

namespace koord::agentd {

class HookAnswers final : public api::HookSource {
 public:
  // The state of the connection to the runtime. [loop thread]
  using Connection = std::function<api::HookConnection()>;

  // The services and the questions outlive it. `keep`: the annotations of pods that hooks may read.
  HookAnswers(const Services& services, HookQuestions& questions, Connection connection, nri::KeepAnnotation keep);

  void report(std::function<void(const api::HookReport&)> done) override;
  void answer(std::uint32_t stage, const std::string& question, std::function<void(Result<std::string>)> done) override;

 private:
  enum class Answered { changed, unchanged, rejected, invalid };

  std::vector<api::HookLine> hooks() const;
  void count(Answered answered, const std::string& problem = {});
  std::string answer_of(const hook::CriQuestion& question, const host::HookVerdict& verdict);
  void remember(const hook::CriQuestion& question, const state::Pod& pod, const host::HookVerdict& verdict);

  const Services& services_;
  HookQuestions& questions_;
  const Connection connection_;
  const nri::KeepAnnotation keep_;
  mutable std::mutex mutex_;
  api::ProxyQuestions counts_;  // [mutex_]
};

}  // namespace koord::agentd
