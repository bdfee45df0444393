// SPDX-License-Identifier: Apache-2.0
#include "running_server.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>

#include "core/http/socket_address.hpp"

namespace koord::test {

RunningServer::RunningServer(http::Routes routes, http::Limits limits)
    : server_(std::make_unique<http::Server>(loop_, workers_, std::move(routes), limits)) {
  address_ = "127.0.0.1:" + std::to_string(server_->listen_tcp("127.0.0.1:0").value());
  thread_ = std::thread([this] { loop_.run(); });
}

RunningServer::~RunningServer() {
  loop_.post([this] { loop_.stop(); });
  thread_.join();
  server_.reset();
}

void RunningServer::stop(Duration bound) {
  std::promise<void> stopped;
  server_->stop(bound, [&] { stopped.set_value(); });
  stopped.get_future().wait();
}

SocketFolder::SocketFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  folder_ = pattern;
}

SocketFolder::~SocketFolder() { std::filesystem::remove_all(folder_); }

RawPeer::RawPeer(const std::string& address, const std::string& from) {
  auto to = address.starts_with('/') ? http::unix_address(address) : http::parse_tcp_address(address);
  fd_.reset(::socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!from.empty()) {
    const auto own = http::parse_tcp_address(from + ":0");
    REQUIRE(::bind(fd_.get(), own->get(), own->length) == 0);
  }
  REQUIRE(::connect(fd_.get(), to->get(), to->length) == 0);
}

void RawPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // the server has closed
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string RawPeer::read_to_end() { return read_until({}); }

std::string RawPeer::read_until(std::string_view mark) {
  std::string all;
  char block[4096];
  while (mark.empty() || all.find(mark) == std::string::npos) {
    ssize_t n = ::recv(fd_.get(), block, sizeof block, 0);
    if (n <= 0) break;
    all.append(block, static_cast<std::size_t>(n));
  }
  return all;
}

}  // namespace koord::test
