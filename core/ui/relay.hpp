// SPDX-License-Identifier: Apache-2.0
// Connects two descriptors with a unix socket, for `koordctl proxy-stdio`, the part of `koordctl ui --pod` in the pod.
// [one thread]
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::ui {

// Copies bytes from `input` to the socket and from the socket to `output`, until the agent closes the socket or the
// reader of `output` has ended. After the end of `input` it shuts down the socket for writing, and waits at most
// `patience` for each further part of the response. Fails after this time, if no process listens on the socket, or if
// the socket's queue is full. The process must ignore SIGPIPE.
Result<void> relay(int input, int output, const std::string& socket, Duration patience = std::chrono::seconds(30));

}  // namespace koord::ui
