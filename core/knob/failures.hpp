// SPDX-License-Identifier: Apache-2.0
// Errors that no system call has returned: the text is complete, and the code is only for decisions (knob_backend.hpp).
// [any thread]
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include "core/base/result.hpp"

namespace koord::knob {

// This kernel lacks the knob.
inline Error unsupported(std::string text) { return {std::make_error_code(std::errc::not_supported), std::move(text)}; }

// The cgroup, its processes or the device have ended.
inline Error ended(std::string text) { return {std::make_error_code(std::errc::no_such_device), std::move(text)}; }

// Another program uses it.
inline Error busy(std::string text) {
  return {std::make_error_code(std::errc::device_or_resource_busy), std::move(text)};
}

}  // namespace koord::knob
