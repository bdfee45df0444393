// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace koord::nri {
namespace {

constexpr std::size_t kBlock = 64 << 10;

bool is_temporary(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

// Connects. A unix socket connects or fails immediately.
Result<std::unique_ptr<Socket>> Socket::connect(event::Loop& loop, const std::string& path, Callbacks callbacks) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return system_error(ENAMETOOLONG, path);
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error(errno, "cannot create a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error(errno, "cannot connect to '" + path + "'");
  std::unique_ptr<Socket> socket(new Socket(loop, std::move(fd), std::move(callbacks)));
  socket->reading_ = TRY(loop.on_readable(socket->fd_.get(), [raw = socket.get()] { raw->on_readable(); }));
  return socket;
}

void Socket::on_readable() {
  std::array<char, kBlock> block;
  const ssize_t n = ::recv(fd_.get(), block.data(), block.size(), 0);
  if (n < 0 && is_temporary(errno)) return;
  if (n < 0) return end(system_error(errno, "cannot read from the runtime"));
  if (n == 0) return end({std::make_error_code(std::errc::connection_reset), "the runtime closed the connection"});
  Result<void> taken = callbacks_.on_bytes({block.data(), static_cast<std::size_t>(n)});
  if (!taken) end(std::move(taken).error());
}

void Socket::send(std::string_view bytes) {
  if (sent_ >= kBlock) drop_sent();
  unsent_.append(bytes);
  if (!writing_) return flush();
  if (unsent_.size() - sent_ > kMaxUnsent) ::shutdown(fd_.get(), SHUT_RDWR);
}

void Socket::drop_sent() {
  unsent_.erase(0, sent_);
  sent_ = 0;
}

// Sends the bytes that are waiting. After a failed write a frame is incomplete, so nothing more is sent; received bytes
// are still read.
void Socket::flush() {
  const ssize_t n = ::send(fd_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
  const bool failed = n < 0 && !is_temporary(errno);
  if (n > 0) sent_ += static_cast<std::size_t>(n);
  if (failed) ::shutdown(fd_.get(), SHUT_WR);
  if (failed || sent_ == unsent_.size()) {
    sent_ = 0;
    unsent_.clear();
    writing_.reset();
    return;
  }
  if (unsent_.size() - sent_ > kMaxUnsent) ::shutdown(fd_.get(), SHUT_RDWR);
  if (!writing_) wait_until_writable();
}

void Socket::wait_until_writable() {
  same_fd_.reset(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  auto watch = loop_.on_writable(same_fd_.get(), [this] { flush(); });
  if (watch)
    writing_ = std::move(watch).value();
  else
    ::shutdown(fd_.get(), SHUT_RDWR);
}

void Socket::end(Error why) {
  reading_.reset();
  writing_.reset();
  const auto on_end = std::move(callbacks_.on_end);
  on_end(std::move(why));
}

}  // namespace koord::nri
