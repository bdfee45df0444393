// SPDX-License-Identifier: Apache-2.0
// The firewall around a call into a plugin in this process: measures it, and turns an exception that leaves
// the plugin into KOORD_E_PANIC with its text. It is the second net, plugin.hpp's thunks are the first: an
// exception of a plugin that brings its own copy of libstdc++ cannot be caught here and ends the process, as
// do abort() and a bad pointer. Against those only a child process helps.
#pragma once

#include <chrono>
#include <exception>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/host/runner.hpp"

namespace koord::service {
class PluginSide;
}  // namespace koord::service

namespace koord::host {

// The call into a plugin that this thread is in. It has plain pointers, as the handler of a fatal signal reads it.
struct ActiveCall {
  const char* plugin;
  const char* call;
};
// nullptr: this thread is in none. Async-signal-safe.
const ActiveCall* active_call() noexcept;

// One call's beginning and end.
class CallScope {
 public:
  CallScope(service::PluginSide& context, const char* call);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  service::CallResult returned(koord_status status) const;
  service::CallResult threw(std::string_view what) const;

 private:
  service::CallResult measured() const;

  service::PluginSide& context_;
  ActiveCall active_;
  const ActiveCall* outer_;
  std::chrono::steady_clock::time_point wall_start_;
  Duration cpu_start_{};
};

// Makes the call; `call` returns a koord_status and must name nothing that dies with an exception.
template <class F>
service::CallResult guarded(service::PluginSide& context, const char* name, F&& call) {
  CallScope scope(context, name);
  try {
    return scope.returned(call());
  } catch (const std::exception& thrown) {
    return scope.threw(thrown.what());
  } catch (...) {
    return scope.threw("an exception that is not a std::exception");
  }
}

}  // namespace koord::host
