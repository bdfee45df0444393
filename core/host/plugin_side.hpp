// SPDX-License-Identifier: Apache-2.0
// PluginSide: what a home needs to know of the host that its plugin sees: the services of this process, or, in a child,
// those of the process that started it. [any thread]
#pragma once

#include <optional>
#include <string>

#include "koordetector/plugin.h"

namespace koord::host {

// What a plugin said with set_error(), or a service on its behalf, about the status it returned.
struct ReportedError {
  koord_status status;
  std::string text;
};

class PluginSide {
 public:
  virtual const koord_host* host() const = 0;
  virtual const std::string& id() const = 0;
  // What was said on this thread since the last take. Take before a call to forget what an earlier one left,
  // and after it to learn why it failed; the status tells whether it is about that.
  virtual std::optional<ReportedError> take_error() = 0;

 protected:
  ~PluginSide() = default;
};

}  // namespace koord::host
