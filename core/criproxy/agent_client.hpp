// SPDX-License-Identifier: Apache-2.0
// AgentClient: asks the agent for the decision of its hooks. If the agent does not answer in time, the call passes
// unchanged; the agent later writes the values that can be changed after a creation. [any thread, may block]
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/criproxy/agent_question.hpp"
#include "core/criproxy/counters.hpp"

namespace koord::criproxy {

class AgentClient {
 public:
  // `socket`: empty: no agent is asked.
  AgentClient(std::string socket, Duration wait, Counters& counters);

  // Asks at the stages before a creation or an update. At other stages it returns no changes.
  HookAnswer ask(std::string_view stage, const wire::Checkpoint& about);

 private:
  Result<HookAnswer> post(std::string_view stage, std::string_view question) const;
  void report(const std::string& problem);

  const std::string socket_;
  const Duration wait_;
  Counters& counters_;
  std::mutex mutex_;
  ProblemTracker problems_;
};

}  // namespace koord::criproxy
