// SPDX-License-Identifier: Apache-2.0
#include "core/host/call_guard.hpp"

#include <ctime>

#include "core/host/plugin_side.hpp"

namespace koord::host {
namespace {

constinit thread_local const ActiveCall* current_call = nullptr;

std::int64_t read_clock(clockid_t id) {
  timespec t;
  ::clock_gettime(id, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

}  // namespace

const ActiveCall* active_call() noexcept {
  return current_call;
}

CallScope::CallScope(PluginSide& context, const char* call)
    : context_(context), active_{context.id().c_str(), call}, outer_(current_call) {
  context_.take_error();  // what an earlier call left on this thread is not about this one
  current_call = &active_;
  wall_start_ = read_clock(CLOCK_MONOTONIC);
  cpu_start_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

CallScope::~CallScope() {
  current_call = outer_;
}

CallResult CallScope::measured() const {
  return {.wall = Duration(read_clock(CLOCK_MONOTONIC) - wall_start_),
          .cpu = Duration(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_start_)};
}

CallResult CallScope::returned(koord_status status) const {
  CallResult result = measured();
  result.status = status;
  if (status == KOORD_OK) return result;
  if (std::optional<ReportedError> error = context_.take_error()) result.text = std::move(error->text);
  return result;
}

CallResult CallScope::threw(std::string_view what) const {
  CallResult result = measured();
  result.status = KOORD_E_PANIC;
  result.text = what;
  return result;
}

}  // namespace koord::host
