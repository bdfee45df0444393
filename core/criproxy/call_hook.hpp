// SPDX-License-Identifier: Apache-2.0
// CallHook: the additional work for one call that is passed on. CallObserver: counts calls.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::criproxy {

// Each function returns immediately and calls `next` once, on any thread.
class CallHook {
 public:
  virtual ~CallHook() = default;
  // Gets the request to send instead; nullopt: send it unchanged. An error refuses the call with its text.
  using Next = std::function<void(Result<std::optional<std::string>>)>;
  virtual void before(std::string request, Next next) = 0;
  // Called with the runtime's answer. The client gets the answer after `next` was called.
  virtual void answered(std::string response, std::function<void()> next) = 0;
  // Called after the client has got its answer. `succeeded`: its status is OK.
  virtual void finished(bool succeeded) = 0;
};

// Counts the calls of one proxy that are in flight, and their results.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void begun() = 0;
  virtual void ended(const std::string& method, int status) = 0;
};

}  // namespace koord::criproxy
