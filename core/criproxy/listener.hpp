// SPDX-License-Identifier: Apache-2.0
// The listening socket of the proxy. It comes from systemd (LISTEN_FDS), which keeps it while the proxy restarts, or is
// made here: bound under another name and renamed, so a client always finds a socket, and a new proxy takes over from
// one that still runs. Never removed: a client that is refused tries again. [main thread]
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::criproxy {

// Mode 0660, in a folder that is made. Non-blocking, listening.
Result<UniqueFd> replace_socket(const std::string& path);

// The socket that systemd gave to this process; empty: none.
UniqueFd inherited_socket();

// The next connection, non-blocking; empty: none waits.
UniqueFd accept_connection(int listener);

}  // namespace koord::criproxy
