// SPDX-License-Identifier: Apache-2.0
#include "core/ui/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "core/base/unique_fd.hpp"
#include "core/http/socket_address.hpp"

namespace koord::ui {
namespace {

constexpr std::size_t kRelayBlock = 64 << 10;

Result<UniqueFd> connect_to(const std::string& path) {
  const http::SocketAddress address = TRY(http::unix_address(path));
  // Non-blocking, because a blocking connect() would wait forever for an agent that hangs.
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), address.get(), address.length) != 0)
    return system_error(errno, "cannot connect to the agent's socket '" + path + "'");
  ::fcntl(socket.get(), F_SETFL, 0);
  return socket;
}

// Returns false if the other end is closed.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) return false;
  }
  return true;
}

// Passes on the bytes that are available. Returns false if `from` is at its end or either descriptor has failed.
bool pass_on(int from, int to) {
  std::array<char, kRelayBlock> block;
  const ssize_t n = ::read(from, block.data(), block.size());
  if (n < 0) return errno == EINTR;
  return n > 0 && write_all(to, {block.data(), static_cast<std::size_t>(n)});
}

}  // namespace

Result<void> relay(int input, int output, const std::string& path, Duration patience) {
  const UniqueFd socket = TRY(connect_to(path));
  const int patience_ms = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count());
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{socket.get(), POLLIN, 0}, pollfd{input, POLLIN, 0}};
    const int found = ::poll(ready.data(), ready.size(), input < 0 ? patience_ms : -1);
    if (found < 0 && errno != EINTR) return system_error(errno, "poll");
    if (found == 0) return system_error(ETIMEDOUT, "the agent on '" + path + "' does not answer");
    if (ready[1].revents != 0 && !pass_on(input, socket.get())) {
      ::shutdown(socket.get(), SHUT_WR);
      input = -1;  // no longer polled
    }
    if (ready[0].revents != 0 && !pass_on(socket.get(), output)) return {};
  }
}

}  // namespace koord::ui
