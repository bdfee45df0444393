// SPDX-License-Identifier: Apache-2.0
// The only place of the server that knows Beast.
#include "core/http/connection.hpp"

#include <sys/socket.h>

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/http/dispatch.hpp"
#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;

constexpr std::size_t kFirstRead = 4 << 10;
// How long a peer that still sends may take to read an answer that ends the connection.
constexpr Duration kLinger = std::chrono::seconds(1);

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

std::optional<Method> method_of(wire::verb verb) {
  switch (verb) {
    case wire::verb::get:
      return Method::get;
    case wire::verb::head:
      return Method::head;
    case wire::verb::post:
      return Method::post;
    default:
      return std::nullopt;
  }
}

Response answer_to_bad_request(const ErrorCode& error) {
  if (error == wire::error::header_limit || error == wire::error::buffer_overflow)
    return plain_text(431, "the header is too large");
  if (error == wire::error::body_limit) return plain_text(413, "the body is too large");
  return plain_text(400, "not an HTTP request: " + error.message());
}

class BeastConnection final : public Connection, public std::enable_shared_from_this<BeastConnection> {
 public:
  BeastConnection(std::shared_ptr<Service> service, Protocol::socket socket, bool is_unix, OnOver on_over)
      : service_(std::move(service)),
        stream_(std::move(socket)),
        is_unix_(is_unix),
        on_over_(std::move(on_over)) {}

  void start() override { await_request(); }

  void finish() override {
    finishing_ = true;
    if (state_ == State::idle) cut();
  }

  void cut() override {
    stream_.close();
    over();
  }

 private:
  enum class State { idle, busy, over };

  void await_request();
  void read_header();
  void on_header(const ErrorCode& error);
  void read_body(std::size_t max_body);
  void on_body(const ErrorCode& error);
  bool is_peer_gone(const ErrorCode& error) const;
  Request take_request();
  void dispatch();
  void answer(Response response, bool keep);
  template <class Message>
  void write(std::shared_ptr<Message> message);
  void on_written(const ErrorCode& error, bool keep);
  void drain();
  void over();

  template <class Step>
  auto bind(Step step) {
    return [self = shared_from_this(), step](const ErrorCode& error, std::size_t bytes) {
      step(*self, error, bytes);
    };
  }

  std::shared_ptr<Service> service_;
  beast::basic_stream<Protocol> stream_;
  bool is_unix_;
  OnOver on_over_;
  State state_ = State::idle;
  bool finishing_ = false;
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  const Route* route_ = nullptr;
  Target target_;
  Method method_ = Method::get;
  std::uint64_t request_number_ = 0;
  std::unique_ptr<event::Timer> handler_deadline_;
  std::array<char, 4096> discarded_;
};

void BeastConnection::await_request() {
  if (finishing_) return cut();
  state_ = State::idle;
  if (buffer_.size() > 0) return read_header();  // pipelined
  stream_.expires_after(service_->limits.idle);
  stream_.async_read_some(buffer_.prepare(kFirstRead),
                          bind([](auto& self, const ErrorCode& error, std::size_t bytes) {
                            if (error || self.state_ == State::over) return self.over();
                            self.buffer_.commit(bytes);
                            self.read_header();
                          }));
}

void BeastConnection::read_header() {
  state_ = State::busy;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(service_->limits.header_bytes));
  parser_->body_limit(boost::none);  // depends on the route
  stream_.expires_after(service_->limits.read);
  wire::async_read_header(
      stream_, buffer_, *parser_,
      bind([](auto& self, const ErrorCode& error, std::size_t) { self.on_header(error); }));
}

void BeastConnection::on_header(const ErrorCode& error) {
  if (is_peer_gone(error)) return cut();
  ++service_->requests;
  if (error) return answer(answer_to_bad_request(error), false);
  bool keep = parser_->is_done() && parser_->keep_alive();
  auto target = parse_target(view(parser_->get().target()));
  if (!target) return answer(plain_text(400, target.error().message()), keep);
  target_ = std::move(target).value();
  auto method = method_of(parser_->get().method());
  route_ = method ? service_->routes.find(*method, target_.path) : nullptr;
  if (!route_) return answer(answer_without_route(service_->routes, target_.path), keep);
  method_ = *method;
  read_body(route_->max_body);
}

void BeastConnection::read_body(std::size_t max_body) {
  if (parser_->is_done()) return dispatch();
  if (parser_->content_length().value_or(0) > max_body)
    return answer(answer_to_bad_request(wire::error::body_limit), false);
  parser_->body_limit(max_body);
  wire::async_read(stream_, buffer_, *parser_,
                   bind([](auto& self, const ErrorCode& error, std::size_t) { self.on_body(error); }));
}

void BeastConnection::on_body(const ErrorCode& error) {
  if (is_peer_gone(error)) return cut();
  if (error) return answer(answer_to_bad_request(error), false);
  dispatch();
}

// Closed, reset or too slow: nobody waits for an answer. What is left is a request that is none.
bool BeastConnection::is_peer_gone(const ErrorCode& error) const {
  if (!error) return state_ == State::over;
  return error.category() != make_error_code(wire::error::bad_method).category() ||
         error == wire::error::end_of_stream || error == wire::error::partial_message ||
         state_ == State::over;
}

Request BeastConnection::take_request() {
  Request request;
  request.method = method_;
  request.path = std::move(target_.path);
  request.query = std::move(target_.query);
  for (const auto& field : parser_->get())
    request.headers.emplace_back(view(field.name_string()), view(field.value()));
  request.body = std::move(parser_->get().body());
  request.from_unix_socket = is_unix_;
  return request;
}

// A handler that is too late is answered for; its own answer finds another request number and is dropped.
void BeastConnection::dispatch() {
  std::uint64_t number = ++request_number_;
  std::weak_ptr<BeastConnection> weak = weak_from_this();
  bool keep = parser_->keep_alive();
  stream_.expires_never();
  handler_deadline_ = service_->loop.after(service_->limits.handler, [weak, number] {
    auto self = weak.lock();
    if (!self || self->request_number_ != number) return;
    ++self->request_number_;
    self->answer(plain_text(503, "the answer took too long"), false);
  });
  handle_on_worker(service_, *route_, take_request(), [weak, number, keep](Response response) {
    auto self = weak.lock();
    if (self && self->request_number_ == number) self->answer(std::move(response), keep);
  });
}

void BeastConnection::answer(Response response, bool keep) {
  handler_deadline_.reset();
  if (state_ == State::over) return;
  if (response.status >= 400) ++service_->errors;
  wire::response_header<> header;
  header.version(11);
  header.result(response.status);
  header.set(wire::field::content_type, response.content_type);
  header.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) header.set(name, value);
  bool bodiless = parser_ && parser_->get().method() == wire::verb::head;
  std::size_t length = response.body.size();
  auto send = [&](auto message) {
    message->keep_alive(keep && !finishing_);
    message->content_length(length);
    write(std::move(message));
  };
  if (bodiless)
    send(std::make_shared<wire::response<wire::empty_body>>(std::move(header)));
  else
    send(std::make_shared<wire::response<wire::string_body>>(std::move(header), std::move(response.body)));
}

template <class Message>
void BeastConnection::write(std::shared_ptr<Message> message) {
  stream_.expires_after(service_->limits.write);
  wire::async_write(stream_, *message, bind([message](auto& self, const ErrorCode& error, std::size_t) {
                      self.on_written(error, message->keep_alive());
                    }));
}

void BeastConnection::on_written(const ErrorCode& error, bool keep) {
  if (error || state_ == State::over) return cut();
  if (keep) return await_request();
  // Closing with unread bytes would reset the connection and take the answer away from the peer.
  ErrorCode ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  drain();
}

void BeastConnection::drain() {
  stream_.async_read_some(asio::buffer(discarded_), bind([](auto& self, const ErrorCode& error, std::size_t) {
                            if (error || self.finishing_ || self.state_ == State::over) return self.cut();
                            self.drain();
                          }));
}

void BeastConnection::over() {
  if (std::exchange(state_, State::over) == State::over) return;
  handler_deadline_.reset();
  std::exchange(on_over_, {})(this);
}

}  // namespace

std::shared_ptr<Connection> Connection::open(std::shared_ptr<Service> service, UniqueFd fd, bool is_unix,
                                             OnOver on_over) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  ErrorCode error;
  Protocol::socket socket(service->loop.context());
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0) return nullptr;
  socket.assign(Protocol(name.ss_family, 0), fd.get(), error);
  if (error) return nullptr;
  (void)fd.release();
  return std::make_shared<BeastConnection>(std::move(service), std::move(socket), is_unix,
                                           std::move(on_over));
}

}  // namespace koord::http
