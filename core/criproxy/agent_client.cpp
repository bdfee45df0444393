// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/agent_client.hpp"

#include <algorithm>
#include <chrono>

#include "core/criproxy/cri.pb.h"
#include "core/criproxy/proxy_log.hpp"
#include "core/http/client.hpp"

namespace koord::criproxy {
namespace {

constexpr std::string_view kAgentStages[] = {"PreRunPodSandbox", "PreCreateContainer", "PreUpdateContainerResources"};

}  // namespace

AgentClient::AgentClient(std::string socket, Duration wait, Counters& counters)
    : socket_(std::move(socket)), wait_(wait), counters_(counters) {}

HookAnswer AgentClient::ask(std::string_view stage, const wire::Checkpoint& about) {
  if (socket_.empty() || std::find(std::begin(kAgentStages), std::end(kAgentStages), stage) == std::end(kAgentStages))
    return {};
  const std::string question = agent_request(stage, about);
  if (question.size() > kMostQuestionBytes) {
    counters_.passed_unhooked(Unhooked::too_large);
    log::warn(proxy_log,
              "{}: the question at {} has {} bytes, expected at most {}; it passes without the agent's hooks",
              title_of(about), stage, question.size(), kMostQuestionBytes);
    return {};
  }
  const auto begin = std::chrono::steady_clock::now();
  Result<HookAnswer> answer = post(stage, question);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report(answer ? "" : answer.error().message());
  HookResult result = HookResult::failed;
  if (answer)
    result = !answer->rejection.empty() ? HookResult::rejected
             : answer->changes.empty()  ? HookResult::unchanged
                                        : HookResult::changed;
  counters_.hook_asked(HookSource::agent, result, seconds);
  return answer ? *std::move(answer) : HookAnswer{};
}

Result<HookAnswer> AgentClient::post(std::string_view stage, std::string_view question) const {
  const http::ClientResponse response = TRY(http::post(socket_, "/api/v1/hooks/" + std::string(stage), question, wait_,
                                                       {{"Content-Type", std::string(http::kJson)}}));
  if (response.status != 200)
    return invalid("status " + std::to_string(response.status) + ": " + response.body.substr(0, 200));
  return read_agent_answer(response.body);
}

void AgentClient::report(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  switch (problems_.update("agent", problem)) {
    case ProblemTracker::Change::begun:
      log::warn(proxy_log, "the agent at '{}' does not answer: {}; calls pass without its hooks", socket_, problem);
      break;
    case ProblemTracker::Change::over:
      log::info(proxy_log, "the agent at '{}' answers again", socket_);
      break;
    case ProblemTracker::Change::none:
      break;
  }
}

}  // namespace koord::criproxy
