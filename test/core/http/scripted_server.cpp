// SPDX-License-Identifier: Apache-2.0
#include "scripted_server.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstdlib>

#include "core/http/socket_address.hpp"

namespace koord::test {

std::string ScriptedServer::Peer::read_request() {
  std::size_t end = std::string::npos, body = 0;
  for (;;) {
    end = unread_.find("\r\n\r\n");
    const std::size_t length = unread_.find("Content-Length: ");
    if (end != std::string::npos && length < end)
      body = static_cast<std::size_t>(std::atoll(unread_.c_str() + length + 16));
    if (end != std::string::npos && unread_.size() >= end + 4 + body) break;
    char block[16 << 10];
    const ssize_t n = ::recv(fd_, block, sizeof block, 0);
    if (n <= 0) return {};
    unread_.append(block, static_cast<std::size_t>(n));
  }
  std::string request = unread_.substr(0, end + 4 + body);
  unread_.erase(0, request.size());
  return request;
}

bool ScriptedServer::Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void ScriptedServer::Peer::close() { ::shutdown(fd_, SHUT_RDWR); }

void ScriptedServer::Peer::wait_for_close() {
  char block[4 << 10];
  while (::recv(fd_, block, sizeof block, 0) > 0) {
  }
}

ScriptedServer::ScriptedServer(Script script, const std::string& address)
    : script_(std::move(script)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  listener_ = http::open_tcp_listener(address + ":0").value();
  port_ = http::local_port(listener_.get()).value();
  accepting_ = std::thread([this] { accept_all(); });
}

void ScriptedServer::accept_all() {
  for (;;) {
    pollfd wait[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(wait, 2, -1) > 0 && wait[1].revents != 0) return;
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int number = ++connections_;
    const std::scoped_lock lock(mutex_);
    UniqueFd& open = open_.emplace_back(fd);
    threads_.emplace_back([this, &open, fd, number] {
      Peer peer(fd, number);
      script_(peer);
      const std::scoped_lock closing(mutex_);
      open.reset();
    });
  }
}

ScriptedServer::~ScriptedServer() {
  ::eventfd_write(stop_.get(), 1);
  accepting_.join();
  {
    const std::scoped_lock lock(mutex_);
    for (const UniqueFd& fd : open_) {
      if (fd) ::shutdown(fd.get(), SHUT_RDWR);
    }
  }
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace koord::test
