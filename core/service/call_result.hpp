// SPDX-License-Identifier: Apache-2.0
// CallResult: the status and the cost of one call of a plugin's function. Plain values.
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

// The result of one call.
struct CallResult {
  koord_status status = KOORD_OK;
  std::string text;  // why, when the status is not KOORD_OK; may be empty when the plugin did not say
  Duration wall{};
  Duration cpu{};     // of the calling thread, or of the child
  bool lost = false;  // the process is gone, with the text as the reason: nothing can be called any more

  bool ok() const { return status == KOORD_OK; }
};
// "KOORD_E_INVALID: text"
std::string describe(const CallResult& result);

}  // namespace koord::service
