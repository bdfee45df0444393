// SPDX-License-Identifier: Apache-2.0
#include "core/http/channel.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace koord::http {
namespace {

constexpr std::size_t kBlock = 64 << 10;

bool is_passing(int error) { return error == EAGAIN || error == EINTR; }

int error_of(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// Enables TCP keepalive. It detects a server that disappeared without closing the connection, even while no timer runs.
void set_keep_alive(int fd) {
  const int on = 1, seconds = 30;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Result<std::shared_ptr<Channel>> Channel::open(event::Loop& loop, const SocketAddress& address,
                                               const std::optional<TlsOptions>& tls, Handlers handlers) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error(errno, "cannot make a socket");
  auto channel = std::make_shared<Channel>(loop, std::move(fd));
  channel->attach(std::move(handlers));
  TRY(channel->begin(address, tls));
  return channel;
}

Result<void> Channel::begin(const SocketAddress& address, const std::optional<TlsOptions>& tls) {
  if (tls) tls_.emplace(TRY(TlsSession::begin(*tls)));
  if (address.family() != AF_UNIX) set_keep_alive(fd_.get());
  if (::connect(fd_.get(), address.get(), address.length) != 0 && errno != EINPROGRESS && errno != EINTR)
    return system_error(errno, "");
  writing_ = TRY(loop_.on_writable(fd_.get(), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->on_connected();
  }));
  return {};
}

void Channel::attach(Handlers handlers) { handlers_ = std::make_shared<const Handlers>(std::move(handlers)); }

void Channel::on_connected() {
  writing_.reset();
  if (int error = error_of(fd_.get())) return end(system_error(error, ""));
  auto watching = loop_.on_readable(fd_.get(), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->on_readable();
  });
  if (!watching) return end(std::move(watching).error());
  reading_ = std::move(watching).value();
  if (tls_) return go_on_shaking_hands();
  open_ = true;
  const auto handlers = handlers_;
  handlers->on_open();
}

void Channel::go_on_shaking_hands() {
  Result<bool> done = tls_->shake_hands();
  queue(tls_->outgoing());  // may include a TLS alert that states for the server why the handshake failed
  if (!fd_) return;
  if (!done) return end(std::move(done).error());
  if (!*done) return;
  open_ = true;
  const auto handlers = handlers_;
  handlers->on_open();
}

void Channel::on_readable() {
  std::array<char, kBlock> block;
  const ssize_t n = ::recv(fd_.get(), block.data(), block.size(), 0);
  if (n < 0 && is_passing(errno)) return;
  if (n < 0) return end(system_error(errno, ""));
  if (n > 0) return take({block.data(), static_cast<std::size_t>(n)});
  if (!tls_) return end({});
  const char* what = open_ ? "TLS: the connection was cut off" : "TLS: the server ended the handshake";
  end(Error{std::make_error_code(std::errc::connection_reset), what});
}

void Channel::take(std::string_view bytes) {
  if (tls_) return take_encrypted(bytes);
  const auto handlers = handlers_;
  handlers->on_bytes(bytes);
}

void Channel::take_encrypted(std::string_view bytes) {
  if (Result<void> taken = tls_->incoming(bytes); !taken) return end(std::move(taken).error());
  if (!open_) go_on_shaking_hands();
  if (!open_ || !fd_) return;
  std::string plain;
  Result<bool> read = tls_->read(plain);
  queue(tls_->outgoing());
  if (!fd_) return;
  const auto handlers = handlers_;
  if (!plain.empty()) handlers->on_bytes(plain);
  if (!fd_) return;
  if (!read) return end(std::move(read).error());
  if (*read) end({});
}

void Channel::send(std::string_view plain) {
  if (!tls_) return queue(std::string(plain));
  Result<void> written = tls_->write(plain);
  queue(tls_->outgoing());
  // Reports the error to the caller of send() later, not during its call.
  if (!written && fd_) ::shutdown(fd_.get(), SHUT_RDWR);
}

void Channel::queue(std::string bytes) {
  if (bytes.empty()) return;
  unsent_ = unsent_.empty() ? std::move(bytes) : unsent_ + bytes;
  flush();
}

// Sends unsent bytes. A failed write does not end the channel, because the server may have answered before it read
// everything, and its answer can still be read. A read also detects a closed connection.
void Channel::flush() {
  const ssize_t n = ::send(fd_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
  const bool gone = n < 0 && !is_passing(errno);
  if (n > 0) sent_ += static_cast<std::size_t>(n);
  if (gone || sent_ == unsent_.size()) {
    sent_ = 0;
    unsent_.clear();
    writing_.reset();
    return;
  }
  if (writing_) return;
  same_fd_.reset(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  auto watching = loop_.on_writable(same_fd_.get(), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->flush();
  });
  if (watching)
    writing_ = std::move(watching).value();
  else
    ::shutdown(fd_.get(), SHUT_RDWR);
}

bool Channel::alive() const {
  char byte;
  const ssize_t n = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && is_passing(errno));
}

void Channel::end(Result<void> why) {
  close();
  const auto handlers = handlers_;
  handlers->on_end(std::move(why));
}

void Channel::close() {
  reading_.reset();
  writing_.reset();
  same_fd_.reset();
  fd_.reset();
}

}  // namespace koord::http
