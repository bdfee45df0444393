// SPDX-License-Identifier: Apache-2.0
// The calls that are parsed. Asks hooks before the runtime gets the request, merges their answers, keeps checkpoints,
// and notifies hook servers afterwards. Work that may block runs on a pool; when too much of it waits, calls pass
// unchanged. [any thread]
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

// A pod with this label has no hooks.
inline constexpr std::string_view kSkipLabel = "runtimeproxy.koordinator.sh/skip-hookserver";

// All of it outlives the calls.
struct HookParts {
  AgentClient& agent;
  HookServers& servers;
  Checkpoints& checkpoints;
  Counters& counters;
  event::WorkerPool& workers;
  std::atomic<int> waiting = 0;  // tasks on the pool
};

// The hook of a call; null: the method passes as it is.
std::unique_ptr<CallHook> hook_of(const std::string& method, HookParts& parts);

}  // namespace koord::criproxy
