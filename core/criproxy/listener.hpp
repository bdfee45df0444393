// SPDX-License-Identifier: Apache-2.0
// The listening socket of the proxy. systemd provides it (LISTEN_FDS) and keeps it while the proxy restarts. Else this
// process makes the socket, binds it under a different name and renames it. So clients always find a socket, and a new
// proxy can replace a running one. The socket is never removed, because a client that is refused tries again. [main
// thread]
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::criproxy {

// Makes the folder and the socket with mode 0660. The socket is non-blocking and listening.
Result<UniqueFd> replace_socket(const std::string& path);

// Returns the socket that systemd has passed to this process; empty: none.
UniqueFd inherited_socket();

// Returns the next connection, non-blocking; empty: none is waiting.
UniqueFd accept_connection(int listener);

}  // namespace koord::criproxy
