// SPDX-License-Identifier: Apache-2.0
#include "core/http/client.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;

Result<SocketAddress> parse_endpoint(std::string_view endpoint) {
  constexpr std::string_view unix_scheme = "unix://", http_scheme = "http://";
  if (endpoint.starts_with(unix_scheme)) endpoint.remove_prefix(unix_scheme.size());
  if (endpoint.starts_with('/')) return unix_address(std::string(endpoint));
  if (endpoint.starts_with(http_scheme)) endpoint.remove_prefix(http_scheme.size());
  return parse_tcp_address(endpoint);
}

// One request on a connection of its own; the loop is run until it is answered.
class Exchange {
 public:
  Exchange(Duration timeout, wire::request<wire::string_body> request)
      : stream_(context_), request_(std::move(request)) {
    parser_.body_limit(kMaxClientBody);
    stream_.expires_after(timeout);
  }

  Result<ClientResponse> run(const SocketAddress& address) {
    stream_.async_connect(Protocol::endpoint(address.get(), address.length),
                          [this](const ErrorCode& error) { on_connected(error); });
    context_.run();
    if (error_) return failure();
    return take_response();
  }

 private:
  void on_connected(const ErrorCode& error) {
    if (failed(error, "cannot connect")) return;
    wire::async_write(stream_, request_, [this](const ErrorCode& e, std::size_t) { on_written(e); });
  }

  // A server may answer and close before it has read everything: its answer counts, not the failed write.
  void on_written(const ErrorCode& error) {
    if (error == beast::error::timeout && failed(error, "cannot send")) return;
    wire::async_read(stream_, buffer_, parser_,
                     [this](const ErrorCode& e, std::size_t) { failed(e, "no answer"); });
  }

  bool failed(const ErrorCode& error, const char* what) {
    error_ = error;
    what_ = what;
    return static_cast<bool>(error);
  }

  Error failure() const {
    if (error_ == beast::error::timeout) return system_error(ETIMEDOUT, what_);
    if (error_.category() == boost::system::system_category()) return system_error(error_.value(), what_);
    return Error{std::make_error_code(std::errc::protocol_error), what_ + (": " + error_.message())};
  }

  Result<ClientResponse> take_response() {
    auto message = parser_.release();
    ClientResponse response;
    response.status = message.result_int();
    for (const auto& field : message) {
      response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    response.body = std::move(message.body());
    return response;
  }

  asio::io_context context_{1};
  beast::basic_stream<Protocol> stream_;
  wire::request<wire::string_body> request_;
  beast::flat_buffer buffer_;
  wire::response_parser<wire::string_body> parser_;
  ErrorCode error_;
  std::string what_;
};

Result<ClientResponse> exchange(wire::verb method, std::string_view endpoint, std::string_view target,
                                std::string body, Duration timeout, const Headers& headers) {
  Result<SocketAddress> address = parse_endpoint(endpoint);
  if (!address) return std::move(address).error();
  wire::request<wire::string_body> request(method, beast::string_view(target.data(), target.size()), 11,
                                           std::move(body));
  request.set(wire::field::host, "localhost");
  for (const auto& [name, value] : headers) request.set(name, value);
  request.keep_alive(false);
  request.prepare_payload();
  Result<ClientResponse> response = Exchange(timeout, std::move(request)).run(*address);
  if (!response) return std::move(response).error().context("'" + std::string(endpoint) + "'");
  return response;
}

}  // namespace

Result<ClientResponse> get(std::string_view endpoint, std::string_view target, Duration timeout,
                           const Headers& headers) {
  return exchange(wire::verb::get, endpoint, target, {}, timeout, headers);
}

Result<ClientResponse> post(std::string_view endpoint, std::string_view target, std::string body,
                            Duration timeout, const Headers& headers) {
  return exchange(wire::verb::post, endpoint, target, std::move(body), timeout, headers);
}

}  // namespace koord::http
