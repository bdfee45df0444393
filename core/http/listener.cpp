// SPDX-License-Identifier: Apache-2.0
#include "core/http/listener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace koord::http {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(200);

ino_t inode_of(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Returns whether the error concerns only this peer, for example because it gave up while it waited.
bool is_passing_accept_error(int error) { return error == ECONNABORTED || error == EINTR || error == EPROTO; }

// Sets TCP_NODELAY, which connections inherit. Without it, the last piece of an answer waits for the peer's ACK of the
// previous piece, for up to 40 ms.
void send_pieces_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Listener::Listener(event::Loop& loop, UniqueFd fd, std::string unix_path)
    : loop_(loop), fd_(std::move(fd)), unix_path_(std::move(unix_path)) {
  if (is_unix())
    inode_ = inode_of(unix_path_);
  else
    send_pieces_at_once(fd_.get());
}

Listener::~Listener() {
  watch_.reset();
  if (is_unix()) remove_path();
}

void Listener::start(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  watch();
}

void Listener::watch() {
  retry_.reset();
  auto watching = loop_.on_readable(fd_.get(), [this] { accept_all(); });
  if (watching)
    watch_ = std::move(watching).value();
  else
    pause();
}

void Listener::accept_all() {
  for (;;) {
    UniqueFd peer(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (peer)
      on_accept_(std::move(peer));
    else if (errno == EAGAIN)
      return;
    else if (!is_passing_accept_error(errno))
      return pause();
  }
}

void Listener::pause() {
  watch_.reset();
  retry_ = loop_.after(kPause, [this] { watch(); });
}

void Listener::remove_path() const {
  if (inode_ != 0 && inode_of(unix_path_) == inode_) ::unlink(unix_path_.c_str());
}

}  // namespace koord::http
