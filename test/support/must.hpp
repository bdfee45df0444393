// SPDX-License-Identifier: Apache-2.0
// Returns the value of a result that a test needs.
#pragma once

#include <stdexcept>
#include <utility>

#include "core/base/result.hpp"

namespace koord::test {

// Throws the error as a std::runtime_error.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

}  // namespace koord::test
