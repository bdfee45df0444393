// SPDX-License-Identifier: Apache-2.0
// PluginSide: the services that a plugin sees: those of this process, or, in a child, those of the process that started
// it. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "koordetector/plugin.h"

namespace koord::service {

// A plugin's longer texts are cut, by both its log() and its set_error().
inline constexpr std::uint64_t kMaxLogBytes = 4096, kMaxErrorBytes = 4096;

// The text of set_error(), from a plugin or from a service on its behalf, about the status it returned.
struct ReportedError {
  koord_status status;
  std::string text;
};

class PluginSide {
 public:
  virtual const koord_host* host() const = 0;
  virtual const std::string& id() const = 0;
  // Takes the error of this thread since the last take. Call it before a call to drop earlier errors, and after it to
  // get the reason of a failure; the status shows whether the text belongs to it.
  virtual std::optional<ReportedError> take_error() = 0;

 protected:
  ~PluginSide() = default;
};

}  // namespace koord::service
