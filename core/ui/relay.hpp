// SPDX-License-Identifier: Apache-2.0
// Joins two descriptors to a unix socket: for `koordctl proxy-stdio`, the end of `koordctl ui --pod` in the pod.
// [one thread]
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ui {

// Passes bytes of `input` on to the socket and bytes of the socket on to `output`, until the agent closes or the reader
// of `output` has ended. At the end of `input` the socket gets an end of file. Fails if nothing listens on the socket.
// The process ignores SIGPIPE.
Result<void> relay(int input, int output, const std::string& socket);

}  // namespace koord::ui
