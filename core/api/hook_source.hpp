// SPDX-License-Identifier: Apache-2.0
// HookSource: the runtime hooks of the agent, as operators see them, and their answers for koord-cri-proxy. [any
// thread]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/mode.hpp"
#include "core/hook/cri_question.hpp"
#include "core/hook/nri/status.hpp"
#include "core/host/hook_statistics.hpp"

namespace koord::api {

// The connection to the container runtime's NRI socket.
struct HookConnection {
  std::string socket = {};                           // empty: switched off
  std::optional<nri::Status> status = std::nullopt;  // nullopt: no hook has run yet
  Time since{};                                      // the connection is as it is
};

// The questions of koord-cri-proxy since the agent's start.
struct ProxyQuestions {
  std::uint64_t asked = 0;
  std::uint64_t changed = 0, unchanged = 0, rejected = 0;  // by the answer
  std::uint64_t invalid = 0;                               // questions that could not be read
  std::string last_problem = {};                           // of these; empty: none yet
  std::optional<Time> last = std::nullopt;                 // a question came
};

// A running hook at one of its stages, or one that was asked before it ended.
struct HookLine {
  host::HookUse use;
  Mode mode = Mode::shadow;
  bool is_running = false;
};

struct HookReport {
  HookConnection connection;
  ProxyQuestions proxy;
  std::vector<HookLine> hooks;
};

class HookSource {
 public:
  virtual ~HookSource() = default;

  // `done` is called once, on the loop.
  virtual void report(std::function<void(const HookReport&)> done) = 0;

  // Takes the body of a question. `done` gets the answer as JSON, once, on any thread; an error: the question is
  // invalid.
  virtual void answer(std::uint32_t stage, const std::string& question,
                      std::function<void(Result<std::string>)> done) = 0;
};

}  // namespace koord::api
