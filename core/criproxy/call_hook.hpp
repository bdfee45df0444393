// SPDX-License-Identifier: Apache-2.0
// CallHook: the work on one call beside passing it. CallObserver: counts calls.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::criproxy {

// Each function returns at once and calls `next` once, on any thread.
class CallHook {
 public:
  virtual ~CallHook() = default;
  // Passes the request to send instead; nullopt: the same. An error refuses the call with its text.
  using Next = std::function<void(Result<std::optional<std::string>>)>;
  virtual void before(std::string request, Next next) = 0;
  // The runtime has answered; the client gets the answer after `next`.
  virtual void answered(std::string response, std::function<void()> next) = 0;
  // The client has its answer. `succeeded`: status OK.
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
