// SPDX-License-Identifier: Apache-2.0
// Handles the calls that are parsed. Asks hooks before the runtime gets the request, merges their answers, keeps
// checkpoints, and notifies hook servers afterwards. Work that may block runs on a pool. If too many tasks are waiting,
// calls pass unchanged. [any thread]
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/criproxy/agent_client.hpp"
#include "core/criproxy/call_hook.hpp"
#include "core/criproxy/checkpoints.hpp"
#include "core/criproxy/counters.hpp"
#include "core/criproxy/hook_servers.hpp"
#include "core/criproxy/stage.hpp"
#include "core/event/worker_pool.hpp"

namespace koord::criproxy {

// Hooks are not asked about a pod with this label.
inline constexpr std::string_view kSkipLabel = "runtimeproxy.koordinator.sh/skip-hookserver";

// The parts that all calls use. They must outlive the calls.
struct HookParts {
  AgentClient& agent;
  HookServers& servers;
  Checkpoints& checkpoints;
  Counters& counters;
  event::WorkerPool& workers;
  std::atomic<int> waiting = 0;  // tasks on the pool
};

// Returns the hook of a call; null: calls of this method pass unchanged.
std::unique_ptr<CallHook> hook_of(const std::string& method, HookParts& parts);

}  // namespace koord::criproxy
