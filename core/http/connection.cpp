// SPDX-License-Identifier: Apache-2.0
#include "core/http/connection.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/dispatch.hpp"
#include "core/http/request_parser.hpp"
#include "core/http/response_header.hpp"
#include "core/http/stream.hpp"

namespace koord::http {
namespace {

// The time that a peer has to read the last answer of a connection, while it still sends.
constexpr Duration kLinger = std::chrono::seconds(1);

constexpr std::string_view kLastChunk = "0\r\n\r\n";

using Progress = RequestParser::Progress;

class HttpConnection final : public Connection, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<Service> service, UniqueFd fd, ConnectionPeer peer, OnOver on_over)
      : service_(std::move(service)),
        peer_(std::move(peer)),
        own_stream_(peer_.tls ? make_tls_stream(service_->loop, std::move(fd), peer_.tls)
                              : make_plain_stream(service_->loop, std::move(fd))),
        stream_(*own_stream_),
        on_over_(std::move(on_over)),
        parser_(service_->limits.header_bytes),
        memory_(service_->memory) {}

  void start() override;

  void finish() override {
    finishing_ = true;
    if (state_ == State::opening || state_ == State::idle || state_ == State::closing) return cut();
    if (awaits_piece_) send_piece({}, false);
  }

  void cut() override {
    if (std::exchange(state_, State::over) == State::over) return;
    deadline_.reset();
    body_.reset();
    memory_.shrink(memory_.bytes());
    stream_.close();
    std::exchange(on_over_, {})(this);
  }

  std::uint64_t turn() const override { return turn_; }
  bool is_waiting() const override { return state_ != State::busy && state_ != State::over; }
  std::uint64_t held_bytes() const override { return memory_.bytes(); }
  std::uint64_t begun() const override { return begun_; }
  void refuse_request() override;

 private:
  // checked: waits for the guard's decision. closing: the handshake has failed, and the client reads the reason.
  enum class State : std::uint8_t { opening, idle, header, checked, body, busy, closing, over };

  void on_open(const Result<void>& opened);
  void await_request();
  void take_turn();
  void listen();
  void on_bytes(std::string_view bytes);
  void begin_request();
  void read_header();
  void on_header();
  void ask_guard(const Guard& guard);
  void on_decision(std::optional<Response> refusal);
  void begin_body();
  void read_body();
  void take_body(Progress progress);
  Request take_header();
  void dispatch();
  void answer_late();
  void answer(Response response, bool keep);
  void on_sent(bool sent, bool keep);
  void send_piece(std::string before, bool keep);
  void await_piece();
  void linger();

  // Wraps a step that the loop runs later, unless the connection has ended before it. If the step ends the connection,
  // the object stays valid until the step returns.
  template <class Step>
  auto later(Step step) {
    return [weak = weak_from_this(), step](auto... values) {
      if (auto self = weak.lock()) step(*self, std::move(values)...);
    };
  }

  void cut_after(Duration delay) {
    deadline_ =
        service_->loop.after(is_refused() ? std::min(delay, kLinger) : delay, later([](auto& self) { self.cut(); }));
  }

  // Counts the bytes that the connection holds now. Returns false if there is no room for them.
  bool hold() { return service_->hold(*this, memory_, parser_.held_bytes()); }

  // Returns whether the peer is refused. It only receives the reason, and has only the time needed for that.
  bool is_refused() const { return !peer_.refusal.empty(); }

  // Returns whether the client showed no certificate because the server did not know its authority at that time. It may
  // show one on a new connection.
  bool is_unknown_for_its_age(unsigned status) const {
    if (status != 401 || !peer_.tls) return false;
    const std::shared_ptr<const TlsPeer> client = stream_.peer();
    return client && client->is_outdated;
  }

  std::shared_ptr<Service> service_;
  const ConnectionPeer peer_;
  const std::shared_ptr<Stream> own_stream_;
  Stream& stream_;
  OnOver on_over_;
  State state_ = State::opening;
  bool finishing_ = false;
  RequestParser parser_;
  const Route* route_ = nullptr;
  Target target_;
  std::shared_ptr<Request> request_;  // exists after its header was read
  std::uint64_t request_number_ = 0;
  std::uint64_t turn_ = 0;                  // of its current wait for a request
  std::uint64_t begun_ = 0;                 // see begun()
  ByteShare memory_;                        // of the request until a worker has it
  bool is_head_ = false;                    // the request that a worker has
  std::unique_ptr<event::Timer> deadline_;  // of the current step
  std::shared_ptr<BodyStream> body_;        // of the answer being sent
  bool awaits_piece_ = false;
  std::size_t unread_bytes_ = 0;  // received while it awaits pieces
};

// Starts the handshake. A client that does not finish it in time counts as failed.
void HttpConnection::start() {
  turn_ = ++service_->last_turn;
  deadline_ = service_->loop.after(service_->limits.handshake, later([](auto& self) {
                                     ++self.service_->failed_handshakes;
                                     self.cut();
                                   }));
  stream_.open(later([](auto& self, const Result<void>& opened) { self.on_open(opened); }));
}

void HttpConnection::on_open(const Result<void>& opened) {
  if (opened) return await_request();
  ++service_->failed_handshakes;
  state_ = State::closing;
  linger();
}

void HttpConnection::await_request() {
  if (finishing_) return cut();
  turn_ = begun_ = ++service_->last_turn;
  parser_.begin();
  hold();  // less than before
  if (parser_.has_bytes()) return take_turn();
  state_ = State::idle;
  cut_after(service_->limits.idle);
  listen();
}

// Handles a pipelined request only after the other tasks of the loop, so a peer with many requests does not delay other
// connections.
void HttpConnection::take_turn() {
  state_ = State::header;
  service_->loop.post(later([](auto& self) {
    if (self.state_ != State::header) return;
    self.listen();
    self.begin_request();
  }));
}

void HttpConnection::listen() {
  stream_.read(later([](auto& self, std::string_view bytes) { self.on_bytes(bytes); }));
}

void HttpConnection::on_bytes(std::string_view bytes) {
  // The connection was closed or reset, so an answer would not arrive.
  if (bytes.empty()) return cut();
  if (state_ == State::idle) begun_ = ++service_->last_turn;
  parser_.feed(bytes);
  if (!hold()) return refuse_request();
  if (state_ == State::idle)
    begin_request();
  else if (state_ == State::header)
    read_header();
  else
    read_body();
}

// A peer without a whole header may not read an answer, so its connection ends. So does one that sends requests ahead.
void HttpConnection::refuse_request() {
  ++service_->refused_requests;
  if (state_ != State::body && state_ != State::checked) return cut();
  request_.reset();
  parser_.drop();
  memory_.shrink(memory_.bytes());
  Response refusal = plain_text(429, "too many bytes of requests are being received, try again in 1 s");
  refusal.headers.emplace_back("Retry-After", "1");
  answer(std::move(refusal), false);
}

void HttpConnection::begin_request() {
  state_ = State::header;
  cut_after(service_->limits.read);
  read_header();
}

void HttpConnection::read_header() {
  Progress progress = parser_.parse_header();
  if (progress == Progress::part) return;
  ++service_->requests;
  if (progress == Progress::bad) return answer(parser_.refusal(), false);
  on_header();
}

void HttpConnection::on_header() {
  if (is_refused()) return answer(plain_text(403, peer_.refusal), false);
  bool keep = parser_.is_whole() && parser_.keep_alive();
  auto target = parse_target(parser_.target());
  if (!target) return answer(plain_text(400, target.error().message()), keep);
  target_ = std::move(target).value();
  auto method = parser_.method();
  route_ = method ? service_->routes.find(*method, target_.path) : nullptr;
  if (!route_) return answer(answer_without_route(service_->routes, target_.path), keep);
  if (!parser_.limit_body(route_->max_body)) return answer(parser_.refusal(), false);
  request_ = std::make_shared<Request>(take_header());
  state_ = State::body;
  if (!hold()) return refuse_request();
  const Guard& guard = route_->guard ? route_->guard : service_->routes.guard();
  if (guard) return ask_guard(guard);
  read_body();
}

// Pauses reading until the guard has decided. A late decision finds a different request number and is ignored.
void HttpConnection::ask_guard(const Guard& guard) {
  state_ = State::checked;
  stream_.pause();
  const std::uint64_t number = ++request_number_;
  deadline_ = service_->loop.after(service_->limits.handler, later([](auto& self) { self.answer_late(); }));
  guard(*request_, [request = request_, decided = later([number](auto& self, std::optional<Response> refusal) {
                                          if (self.request_number_ == number && self.state_ == State::checked)
                                            self.on_decision(std::move(refusal));
                                        })](std::optional<Response> refusal) { decided(std::move(refusal)); });
}

void HttpConnection::on_decision(std::optional<Response> refusal) {
  if (!refusal) return begin_body();
  // The connection is kept only if the whole body was received already, because reading more would cost as much as
  // serving the request.
  const bool is_whole = parser_.has_stated_body() && parser_.parse_body() == Progress::whole;
  answer(*std::move(refusal), is_whole && parser_.keep_alive());
}

void HttpConnection::begin_body() {
  state_ = State::body;
  const Progress progress = parser_.parse_body();
  if (progress == Progress::part) {
    cut_after(service_->limits.read);
    listen();
  }
  take_body(progress);
}

void HttpConnection::read_body() { take_body(parser_.parse_body()); }

void HttpConnection::take_body(Progress progress) {
  if (progress == Progress::bad) return answer(parser_.refusal(), false);
  if (progress == Progress::part && !hold()) return refuse_request();
  if (progress != Progress::whole) return;
  request_->body = parser_.take_body();
  dispatch();
}

Request HttpConnection::take_header() {
  Request request;
  request.method = *parser_.method();
  request.path = std::move(target_.path);
  request.query = std::move(target_.query);
  request.headers = parser_.headers();
  request.from_unix_socket = peer_.is_unix;
  request.peer = peer_.process;
  request.tls = stream_.peer();
  return request;
}

// Runs the handler. If it is late, an error is sent instead. In that case, its own answer finds a different request
// number and is dropped.
void HttpConnection::dispatch() {
  state_ = State::busy;
  stream_.pause();
  std::uint64_t number = ++request_number_;
  deadline_ = service_->loop.after(service_->limits.handler, later([](auto& self) { self.answer_late(); }));
  bool keep = parser_.keep_alive();
  is_head_ = parser_.method() == Method::head;
  parser_.begin();                       // frees the header
  memory_.shrink(parser_.held_bytes());  // of requests sent ahead, which stay here
  ByteShare memory = std::exchange(memory_, memory_.sibling());
  hold();
  dispatch_request(service_, *route_, std::move(*std::exchange(request_, nullptr)), std::move(memory),
                   later([number, keep](auto& self, Response response) {
                     if (self.request_number_ == number) self.answer(std::move(response), keep);
                   }));
}

void HttpConnection::answer_late() {
  ++request_number_;
  answer(plain_text(503, "the answer took too long"), false);
}

void HttpConnection::answer(Response response, bool keep) {
  if (state_ == State::over) return;
  state_ = State::busy;
  if (response.status >= 400) ++service_->errors;
  keep = keep && !finishing_ && !is_unknown_for_its_age(response.status);
  std::string header = response_header(response, keep);
  auto body = response.shared_body ? std::move(response.shared_body)
                                   : std::make_shared<const std::string>(std::move(response.body));
  if (std::exchange(is_head_, false) || parser_.method() == Method::head) {
    body.reset();
  } else if (response.stream) {
    body_ = std::move(response.stream);
    unread_bytes_ = 0;
    return send_piece(std::move(header), keep);
  }
  cut_after(service_->limits.write);
  stream_.send(std::move(header), std::move(body), later([keep](auto& self, bool sent) { self.on_sent(sent, keep); }));
}

void HttpConnection::on_sent(bool sent, bool keep) {
  if (!sent) return cut();
  if (keep) return await_request();
  linger();
}

// Sends `before`, then the next piece as a chunk. Each piece is a separate step of the loop, so other connections are
// served in between.
void HttpConnection::send_piece(std::string before, bool keep) {
  awaits_piece_ = false;
  auto wake = [weak = std::weak_ptr(service_), step = later([keep](auto& self) {
                                                 if (self.awaits_piece_) self.send_piece({}, keep);
                                               })] {
    if (auto service = weak.lock()) service->loop.post(step);
  };
  BodyStream::Piece piece = finishing_ ? BodyStream::Piece{BodyStream::State::ended} : body_->next(wake);
  const bool has_ended = piece.state == BodyStream::State::ended, is_chunk = piece.state == BodyStream::State::piece;
  if (has_ended) before += kLastChunk;
  if (is_chunk) before += chunk_header(piece.head.size() + (piece.body ? piece.body->size() : 0)) + piece.head;
  if (before.empty()) return await_piece();
  deadline_ = service_->loop.after(service_->limits.write, later([](auto& self) {
                                     if (self.body_) self.body_->on_slow_peer();
                                     self.cut();
                                   }));
  stream_.send(std::move(before), std::move(piece.body), later([keep, has_ended, is_chunk](auto& self, bool sent) {
                 if (!sent) return self.cut();
                 if (has_ended) self.body_.reset();
                 if (has_ended) return self.on_sent(true, keep && !self.finishing_);
                 self.service_->loop.post(self.later([keep, is_chunk](auto& again) {
                   if (again.state_ != State::over) again.send_piece(is_chunk ? "\r\n" : "", keep);
                 }));
               }));
}

// Waits for the next piece, and detects when the peer closes the connection meanwhile.
void HttpConnection::await_piece() {
  awaits_piece_ = true;
  deadline_.reset();
  stream_.read(later([](auto& self, std::string_view bytes) {
    self.unread_bytes_ += bytes.size();
    if (bytes.empty() || self.unread_bytes_ > self.service_->limits.header_bytes) return self.cut();
    self.parser_.feed(bytes);
    if (!self.hold()) self.refuse_request();
  }));
}

// Shuts the sending direction, and reads the remaining bytes. Closing with unread bytes would reset the connection, and
// the peer would lose the answer.
void HttpConnection::linger() {
  stream_.shut();
  cut_after(kLinger);
  stream_.read(later([](auto& self, std::string_view bytes) {
    if (bytes.empty() || self.finishing_) self.cut();
  }));
}

}  // namespace

std::shared_ptr<Connection> Connection::open(std::shared_ptr<Service> service, UniqueFd fd, ConnectionPeer peer,
                                             OnOver on_over) {
  return std::make_shared<HttpConnection>(std::move(service), std::move(fd), std::move(peer), std::move(on_over));
}

}  // namespace koord::http
