// SPDX-License-Identifier: Apache-2.0
// HookSource: the state of the agent's runtime hooks for operators, and their answers for koord-cri-proxy. [any thread]
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
  Time since{};                                      // when the connection last changed
};

// The questions of koord-cri-proxy since the agent's start.
struct ProxyQuestions {
  std::uint64_t asked = 0;
  std::uint64_t changed = 0, unchanged = 0, rejected = 0;  // numbers of answers
  std::uint64_t invalid = 0;                               // questions that could not be parsed
  std::string last_problem = {};                           // problem of the last invalid question; empty: none yet
  std::optional<Time> last = std::nullopt;                 // time of the last question
};

// A running hook at one of its stages, or a hook that was called and has ended.
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

  // Answers a question. `question`: the body of the request. `done` receives the answer as JSON, once, on any thread;
  // an error means that the question is invalid.
  virtual void answer(std::uint32_t stage, const std::string& question,
                      std::function<void(Result<std::string>)> done) = 0;
};

}  // namespace koord::api
