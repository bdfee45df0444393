// SPDX-License-Identifier: Apache-2.0
#include "core/http/stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/event/fd_watch.hpp"

namespace koord::http {
namespace {

constexpr std::size_t kStreamBlock = 16 << 10;

bool is_passing_stream_error(int error) { return error == EAGAIN || error == EINTR; }

struct Outgoing {
  // Returns whether everything could be sent; nullopt while bytes are left. Makes one system call, even if a second
  // could send more, because the loop has other connections to serve.
  std::optional<bool> send_some(int fd);

  std::string header;
  std::shared_ptr<const std::string> body;
  std::size_t sent = 0;
};

std::optional<bool> Outgoing::send_some(int fd) {
  std::size_t of_header = std::min(sent, header.size()), of_body = sent - of_header;
  // sendmsg() does not write to these buffers.
  iovec parts[] = {{header.data() + of_header, header.size() - of_header},
                   {const_cast<char*>(body->data()) + of_body, body->size() - of_body}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = std::size(parts);
  ssize_t n = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  if (n < 0) return is_passing_stream_error(errno) ? std::nullopt : std::optional(false);
  sent += static_cast<std::size_t>(n);
  return sent == header.size() + body->size() ? std::optional(true) : std::nullopt;
}

class PlainStream final : public Stream {
 public:
  PlainStream(event::Loop& loop, UniqueFd fd) : loop_(loop), fd_(std::move(fd)) {}

  void open(OnOpen on_open) override { on_open({}); }
  void read(OnBytes on_bytes) override;
  void pause() override { watch_.reset(); }
  void send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent) override;
  void shut() override { ::shutdown(fd_.get(), SHUT_WR); }
  void close() override {
    pause();
    fd_.reset();
  }

 private:
  void receive(const OnBytes& on_bytes);

  event::Loop& loop_;
  UniqueFd fd_;
  std::unique_ptr<event::FdWatch> watch_;
};

void PlainStream::read(OnBytes on_bytes) {
  pause();
  auto watching = loop_.on_readable(fd_.get(), [this, on_bytes] { receive(on_bytes); });
  if (!watching) return on_bytes({});
  watch_ = std::move(watching).value();
}

void PlainStream::receive(const OnBytes& on_bytes) {
  std::array<char, kStreamBlock> block;
  ssize_t n = ::recv(fd_.get(), block.data(), block.size(), 0);
  if (n < 0 && is_passing_stream_error(errno)) return;
  on_bytes({block.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
}

void PlainStream::send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent) {
  pause();
  if (!body) body = std::make_shared<const std::string>();
  auto outgoing = std::make_shared<Outgoing>(Outgoing{std::move(header), std::move(body)});
  if (auto sent = outgoing->send_some(fd_.get())) return on_sent(*sent);
  auto watching = loop_.on_writable(fd_.get(), [this, outgoing, on_sent] {
    auto sent = outgoing->send_some(fd_.get());
    if (!sent) return;
    pause();
    on_sent(*sent);
  });
  if (!watching) return on_sent(false);
  watch_ = std::move(watching).value();
}

}  // namespace

std::shared_ptr<Stream> make_plain_stream(event::Loop& loop, UniqueFd fd) {
  return std::make_shared<PlainStream>(loop, std::move(fd));
}

}  // namespace koord::http
