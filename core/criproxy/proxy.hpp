// SPDX-License-Identifier: Apache-2.0
// Proxy: the gRPC server for CRI clients, and the channel to the runtime. It gets connections that the listener has
// accepted, and passes each call on. Owned by main. [any thread]
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/unique_fd.hpp"
#include "core/criproxy/call_hook.hpp"

namespace koord::criproxy {

class Proxy {
 public:
  // Returns the hook of a call of this method; null: the call passes unchanged.
  using HookOf = std::function<std::unique_ptr<CallHook>(const std::string& method)>;

  // `runtime_socket`: a path. `observer` must outlive the proxy.
  Proxy(const std::string& runtime_socket, HookOf hook_of, CallObserver& observer);
  ~Proxy();

  void serve(UniqueFd connection);

  // Returns whether the runtime's socket is connected. Tries to connect, and waits at most this time.
  bool runtime_answers(Duration wait);

  // Makes one unary call to the runtime. Returns nullopt if it failed, or has not ended in time.
  std::optional<std::string> ask_runtime(const std::string& method, const std::string& request, Duration wait);

  // Stops accepting calls, waits at most `wait` for running calls, and cancels the calls that still run.
  void stop(Duration wait);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::criproxy
