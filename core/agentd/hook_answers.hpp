// SPDX-License-Identifier: Apache-2.0
// HookAnswers: runtime hooks in the data API. It answers the requests of koord-cri-proxy as NriHooks answers the
// requests of the runtime, and reports connection, statistics and modes to operators. The proxy does not report the
// start of a container, so the values that the container had before the hooks are journaled when the state shows the
// container. [any thread]
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/agentd/hook_questions.hpp"
#include "core/agentd/services.hpp"
#include "core/api/hook_source.hpp"
#include "core/hook/nri/wire.hpp"
#include "core/metric/host_metrics.hpp"

namespace koord::agentd {

class HookAnswers final : public api::HookSource {
 public:
  // The state of the connection to the runtime. [loop thread]
  using Connection = std::function<api::HookConnection()>;

  // The services and the questions must outlive this object. `keep`: the pod annotations that hooks may read.
  HookAnswers(const Services& services, HookQuestions& questions, Connection connection, nri::KeepAnnotation keep);

  void report(std::function<void(const api::HookReport&)> done) override;
  void answer(std::uint32_t stage, const std::string& question, std::function<void(Result<std::string>)> done) override;

 private:
  enum class Answered { changed, unchanged, rejected, invalid };

  api::ProxyQuestions proxy_questions() const;
  std::vector<api::HookLine> hooks() const;
  metric::HostCounter& counter(Answered answered);
  void count(Answered answered);
  void keep_problem(std::string problem);
  std::string answer_of(const hook::CriQuestion& question, const host::HookVerdict& verdict);
  void remember(const hook::CriQuestion& question, const state::Pod& pod, const host::HookVerdict& verdict);

  const Services& services_;
  HookQuestions& questions_;
  const Connection connection_;
  const nri::KeepAnnotation keep_;
  std::array<metric::HostCounter, 4> counters_;  // one for each kind of answer; report() reads them, too
  mutable std::mutex mutex_;
  std::string last_problem_;  // problem of the last invalid question [mutex_]
  std::optional<Time> last_;  // the time of the last question [mutex_]
};

}  // namespace koord::agentd
