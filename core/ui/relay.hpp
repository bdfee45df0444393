// SPDX-License-Identifier: Apache-2.0
// Joins two descriptors to a unix socket: for `koordctl proxy-stdio`, the end of `koordctl ui --pod` in the pod.
// [one thread]
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::ui {

// Passes bytes of `input` on to the socket and bytes of the socket on to `output`, until the agent closes or the reader
// of `output` has ended. At the end of `input` the socket gets an end of file, and each further answer has `patience`.
// Fails if that has passed, or nothing listens on the socket, or too many wait there. The process ignores SIGPIPE.
Result<void> relay(int input, int output, const std::string& socket, Duration patience = std::chrono::seconds(30));

}  // namespace koord::ui
