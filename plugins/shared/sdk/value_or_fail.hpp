// SPDX-License-Identifier: Apache-2.0
// Converts a Result for the ABI: an error becomes the Failure of the call. Header-only. [any thread]
#pragma once

#include <utility>

#include "core/base/result.hpp"
#include "koordetector/plugin.hpp"

namespace koord::plugin {

// Returns the value, or throws a Failure with this status and the error's text.
template <class T>
T value_or_fail(Result<T> result, koord_status status = KOORD_E_IO) {
  if (!result) throw Failure(status, result.error().message());
  return std::move(result).value();
}

}  // namespace koord::plugin
