// SPDX-License-Identifier: Apache-2.0
#include "core/http/client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/base/unique_fd.hpp"
#include "core/http/response_parser.hpp"
#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

Result<SocketAddress> parse_endpoint(std::string_view endpoint) {
  constexpr std::string_view unix_scheme = "unix://", http_scheme = "http://";
  if (endpoint.starts_with(unix_scheme)) endpoint.remove_prefix(unix_scheme.size());
  if (endpoint.starts_with('/')) return unix_address(std::string(endpoint));
  if (endpoint.starts_with(http_scheme)) endpoint.remove_prefix(http_scheme.size());
  return parse_tcp_address(endpoint);
}

// One request on its own connection. Its steps return 0 or an errno.
class BlockingExchange {
 public:
  explicit BlockingExchange(const ClientOptions& options)
      : options_(options), deadline_(Clock::now() + options.timeout) {}

  Result<ClientResponse> run(const SocketAddress& address, std::string_view request) {
    if (int error = connect(address)) return system_error(error, "cannot connect");
    if (options_.tls) {
      if (Result<void> shaken = shake_hands(); !shaken) return std::move(shaken).error().context("cannot connect");
    }
    if (tls_) TRY(tls_->write(request));
    // A server may answer and close before it has read everything. So the answer is read even if the write failed.
    const std::string bytes = tls_ ? tls_->outgoing() : std::string(request);
    if (int error = send(bytes); error == ETIMEDOUT || error == ECANCELED) return system_error(error, "cannot send");
    Result<ClientResponse> response = receive();
    if (!response) return std::move(response).error().context("no answer");
    return response;
  }

 private:
  using Clock = std::chrono::steady_clock;

  int connect(const SocketAddress& address);
  Result<void> shake_hands();
  int send(std::string_view bytes);
  Result<std::string_view> receive_some();
  Result<std::string_view> plain_of(std::string_view bytes);
  Result<ClientResponse> receive();
  int wait_for(short events) const;

  const ClientOptions& options_;
  const Clock::time_point deadline_;
  UniqueFd socket_;
  std::optional<TlsSession> tls_;
  bool server_is_done_ = false;  // the server has ended the stream, as TLS requires
  std::array<char, 64 << 10> block_;
  std::string plain_;
};

int BlockingExchange::connect(const SocketAddress& address) {
  socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) return errno;
  if (::connect(socket_.get(), address.get(), address.length) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (int error = wait_for(POLLOUT)) return error;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int BlockingExchange::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EAGAIN && errno != EINTR) {
      return errno;
    } else if (int error = wait_for(POLLOUT)) {
      return error;
    }
  }
  return 0;
}

Result<void> BlockingExchange::shake_hands() {
  tls_.emplace(TRY(TlsSession::begin(*options_.tls)));
  for (;;) {
    Result<bool> done = tls_->shake_hands();
    // This may include a TLS alert that states for the server why the handshake failed.
    if (int error = send(tls_->outgoing()); error != 0 && done) return system_error(error, "cannot send");
    if (!done) return std::move(done).error();
    if (*done) return {};
    const std::string_view bytes = TRY(receive_some());
    if (bytes.empty()) return invalid("TLS: the server ended the handshake");
    TRY(tls_->incoming(bytes));
  }
}

// Returns the next bytes, which are valid until the next call. Empty: the server has closed the connection.
Result<std::string_view> BlockingExchange::receive_some() {
  for (;;) {
    if (Clock::now() >= deadline_) return system_error(ETIMEDOUT, "");  // even if the peer sends without a pause
    const ssize_t n = ::recv(socket_.get(), block_.data(), block_.size(), 0);
    if (n >= 0) return std::string_view(block_.data(), static_cast<std::size_t>(n));
    if (errno != EAGAIN && errno != EINTR) return system_error(errno, "");
    if (int error = wait_for(POLLIN)) return system_error(error, "");
  }
}

Result<std::string_view> BlockingExchange::plain_of(std::string_view bytes) {
  plain_.clear();
  TRY(tls_->incoming(bytes));
  server_is_done_ = TRY(tls_->read(plain_));
  return std::string_view(plain_);
}

Result<ClientResponse> BlockingExchange::receive() {
  ResponseParser parser(options_.max_body, options_.on_body);
  for (bool whole = false; !whole;) {
    const std::string_view bytes = TRY(receive_some());
    const bool ended = bytes.empty();
    if (ended && tls_ && !server_is_done_) return invalid("TLS: the connection was cut off");
    const std::string_view plain = tls_ && !ended ? TRY(plain_of(bytes)) : bytes;
    if (!plain.empty()) whole = TRY(parser.feed(plain));
    if (whole || (!ended && !server_is_done_)) continue;
    TRY(parser.end());
    whole = true;
  }
  return parser.take();
}

// Waits for the socket. Returns ETIMEDOUT if it is not ready by the deadline, ECANCELED if the request was cancelled.
int BlockingExchange::wait_for(short events) const {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd wait[] = {{socket_.get(), events, 0}, {options_.cancel_fd, POLLIN, 0}};
    int n = ::poll(wait, std::size(wait), static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX)));
    if (n > 0) return wait[1].revents != 0 ? ECANCELED : 0;
    if (n < 0 && errno != EINTR) return errno;
  }
}

std::string request_text(std::string_view method, std::string_view target, const Headers& headers,
                         std::string_view body) {
  std::string text;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  if (std::none_of(headers.begin(), headers.end(), [](const auto& header) { return header.first == "Host"; }))
    text += "Host: localhost\r\n";
  for (const auto& [name, value] : headers) text.append(name).append(": ").append(value).append("\r\n");
  text += "Connection: close\r\n";
  if (method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text.append("\r\n").append(body);
}

Result<ClientResponse> exchange(std::string_view endpoint, std::string_view request, const ClientOptions& options) {
  SocketAddress address = TRY(parse_endpoint(endpoint));
  Result<ClientResponse> response = BlockingExchange(options).run(address, request);
  if (!response) return std::move(response).error().context("'" + std::string(endpoint) + "'");
  return response;
}

}  // namespace

Result<ClientResponse> get(std::string_view endpoint, std::string_view target, Duration timeout,
                           const Headers& headers) {
  return exchange(endpoint, request_text("GET", target, headers, {}), {.timeout = timeout});
}

Result<ClientResponse> get(std::string_view endpoint, std::string_view target, const ClientOptions& options) {
  return exchange(endpoint, request_text("GET", target, options.headers, {}), options);
}

Result<ClientResponse> post(std::string_view endpoint, std::string_view target, std::string_view body, Duration timeout,
                            const Headers& headers) {
  return exchange(endpoint, request_text("POST", target, headers, body), {.timeout = timeout});
}

}  // namespace koord::http
