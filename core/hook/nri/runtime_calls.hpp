// SPDX-License-Identifier: Apache-2.0
// RuntimeCalls: the calls of the plugin to the runtime, on one connection. Each has an odd id that grows, and ends with
// the runtime's answer, at its timeout, or with the connection. [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/hook/nri/ttrpc.hpp"

namespace koord::nri {

class RuntimeCalls {
 public:
  // Receives the payload of the answer. Called once, never before call() returns; not at all if the object is
  // destroyed.
  using OnAnswer = std::function<void(Result<std::string>)>;
  using Send = std::function<void(std::string_view bytes)>;

  RuntimeCalls(event::Loop& loop, Send send) : loop_(loop), send_(std::move(send)) {}

  void call(std::string_view method, std::string payload, Duration timeout, OnAnswer on_answer);

  // A message of the runtime on this stream. An answer to no call is ignored.
  Result<void> take(const Message& message);

  // Fails all calls that are not answered.
  void end(const Error& why);

 private:
  struct Call {
    std::string method;
    OnAnswer on_answer;
    std::unique_ptr<event::Timer> timeout;
  };

  void finish(std::uint32_t id, Result<std::string> answer);

  event::Loop& loop_;
  const Send send_;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, Call> calls_;
};

}  // namespace koord::nri
