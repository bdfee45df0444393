// SPDX-License-Identifier: Apache-2.0
#include "core/host/call_guard.hpp"

#include "core/base/thread_cpu.hpp"
#include "core/service/plugin_side.hpp"

namespace koord::host {
namespace {

constinit thread_local const ActiveCall* current_call = nullptr;

}  // namespace

const ActiveCall* active_call() noexcept { return current_call; }

CallScope::CallScope(service::PluginSide& context, const char* call)
    : context_(context), active_{context.id().c_str(), call}, outer_(current_call) {
  context_.take_error();  // errors of an earlier call on this thread do not belong to this one
  current_call = &active_;
  wall_start_ = std::chrono::steady_clock::now();
  cpu_start_ = thread_cpu();
}

CallScope::~CallScope() { current_call = outer_; }

service::CallResult CallScope::measured() const {
  return {.wall = std::chrono::steady_clock::now() - wall_start_, .cpu = thread_cpu() - cpu_start_};
}

service::CallResult CallScope::returned(koord_status status) const {
  service::CallResult result = measured();
  result.status = status;
  if (status == KOORD_OK) return result;
  if (std::optional<service::ReportedError> error = context_.take_error()) result.text = std::move(error->text);
  return result;
}

service::CallResult CallScope::threw(std::string_view what) const {
  service::CallResult result = measured();
  result.status = KOORD_E_PANIC;
  result.text = what;
  return result;
}

}  // namespace koord::host
