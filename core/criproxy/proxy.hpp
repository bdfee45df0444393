// SPDX-License-Identifier: Apache-2.0
// Proxy: the gRPC server that CRI clients talk to, and the channel to the runtime. It gets connections that a Listener
// has accepted, and passes each call. Owner: main. [any thread]
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
  // Returns the hook of a call of this method; null: the call passes as it is.
  using HookOf = std::function<std::unique_ptr<CallHook>(const std::string& method)>;

  // `runtime_socket`: a path. `observer` outlives the proxy.
  Proxy(const std::string& runtime_socket, HookOf hook_of, CallObserver& observer);
  ~Proxy();

  void serve(UniqueFd connection);

  // Is the runtime's socket connected? Tries to connect, and waits at most so long.
  bool runtime_answers(Duration wait);

  // One unary call to the runtime; nullopt: it failed, or not within the time.
  std::optional<std::string> ask_runtime(const std::string& method, const std::string& request, Duration wait);

  // Stops accepting calls, and cancels those that have not ended within `wait`.
  void stop(Duration wait);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::criproxy
