// SPDX-License-Identifier: Apache-2.0
#include "core/http/exchange.hpp"

#include <algorithm>
#include <utility>

namespace koord::http {
namespace {

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

std::string seconds(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

Exchange::Exchange(std::shared_ptr<Connections> connections, AsyncRequest request, AsyncClient::OnPiece on_piece,
                   AsyncClient::OnAnswer on_answer, std::function<void()> on_begin)
    : connections_(std::move(connections)),
      request_(std::move(request)),
      on_piece_(std::move(on_piece)),
      on_answer_(std::move(on_answer)),
      on_begin_(std::move(on_begin)) {}

void Exchange::start() {
  set_deadline(request_.timeout);
  find_connection();
}

void Exchange::cancel() {
  done_ = true;
  deadline_.reset();
  waiting_.reset();
  dial_.reset();
  if (connection_.channel) connection_.channel->close();
  connection_ = {};
}

void Exchange::find_connection() {
  if (auto kept = connections_->take_kept()) return use(std::move(*kept));
  if (auto slot = connections_->take_slot()) return connect(std::move(slot));
  waiting_ = connections_->wait([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->find_connection();
  });
  if (!waiting_)
    fail_soon(
        Error{std::make_error_code(std::errc::device_or_resource_busy), "too many requests wait for a connection"});
}

void Exchange::connect(std::shared_ptr<Slot> slot) {
  doing_ = "cannot connect";
  connection_.slot = std::move(slot);
  connection_.generation = connections_->generation();
  dial_ = std::make_shared<Dial>(connections_->loop(), connections_->origin().tls,
                                 [weak = weak_from_this()](Result<std::shared_ptr<Channel>> channel) {
                                   if (auto self = weak.lock()) self->on_dialled(std::move(channel));
                                 });
  dial_->start(connections_->resolver());
}

void Exchange::on_dialled(Result<std::shared_ptr<Channel>> channel) {
  const auto dial = std::exchange(dial_, nullptr);  // keeps it alive, because it is calling this function
  if (!channel) return finish(std::move(channel).error().context("cannot connect"));
  ++connections_->opened;
  Lease connection = std::move(connection_);
  connection.channel = std::move(channel).value();
  use(std::move(connection));
}

void Exchange::use(Lease connection) {
  doing_ = "no answer";
  connection_ = std::move(connection);
  got_bytes_ = false;
  body_.clear();
  parser_.emplace([this](std::string_view piece) { return on_body(piece); });
  const std::weak_ptr<Exchange> weak = weak_from_this();
  connection_.channel->attach({.on_open = {},
                               .on_bytes =
                                   [weak](std::string_view bytes) {
                                     if (auto self = weak.lock()) self->on_bytes(bytes);
                                   },
                               .on_end =
                                   [weak](Result<void> why) {
                                     if (auto self = weak.lock()) self->on_closed(std::move(why));
                                   }});
  ++connections_->sent;
  was_sent_ = true;
  connection_.channel->send(request_text());
}

void Exchange::on_bytes(std::string_view bytes) {
  if (done_) return;
  got_bytes_ = true;
  Result<bool> whole = parser_->feed(bytes);
  if (done_) return;
  if (!whole) return finish(std::move(whole).error().context("no answer"));
  if (*whole) return finish(parser_->take());
  if (!on_piece_ || !parser_->has_header() || !is_stream()) return;
  const bool begins = !std::exchange(streaming_, true);
  set_deadline(request_.silence);
  if (begins && on_begin_) on_begin_();
}

Result<void> Exchange::on_body(std::string_view piece) {
  if (done_) return Error{std::make_error_code(std::errc::operation_canceled), ""};
  if (is_stream()) return on_piece_(piece);
  if (piece.size() > request_.max_body - body_.size())
    return Error{std::make_error_code(std::errc::message_size),
                 "found a body of more than " + std::to_string(request_.max_body) + " bytes, expected at most those"};
  body_ += piece;
  return {};
}

void Exchange::on_closed(Result<void> why) {
  if (done_ || send_again()) return;
  if (why) why = parser_->end();
  if (done_) return;
  if (!why) return finish(std::move(why).error().context(got_bytes_ ? "the answer broke off" : "no answer"));
  finish(parser_->take());
}

// Sends the request again on a new connection. The server may have closed the kept connection at the moment it was
// used.
bool Exchange::send_again() {
  if (!connection_.used || got_bytes_ || sent_again_ || !is_idempotent(request_.method)) return false;
  sent_again_ = true;
  connection_.used = false;
  connection_.channel->close();
  connection_.channel.reset();
  connect(std::move(connection_.slot));
  return true;
}

void Exchange::set_deadline(Duration left) {
  deadline_ = connections_->loop().after(left, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->on_deadline();
  });
}

// Fails the request. If a kept connection did not answer, something in between (such as a NAT) may have dropped it and
// all other kept connections. So these are closed.
void Exchange::on_deadline() {
  if (connection_.used && !got_bytes_) connections_->close_kept();
  const std::string what = streaming_ ? "nothing came for " + seconds(request_.silence)
                                      : std::string(doing_) + " within " + seconds(request_.timeout);
  finish(system_error(ETIMEDOUT, what));
}

void Exchange::fail_soon(Error error) {
  deadline_ = connections_->loop().after({}, [weak = weak_from_this(), error = std::move(error)] {
    if (auto self = weak.lock()) self->finish(error);
  });
}

void Exchange::finish(Result<ClientResponse> answer) {
  if (done_) return;
  done_ = true;
  const auto self = shared_from_this();
  deadline_.reset();
  waiting_.reset();
  dial_.reset();
  if (connection_.channel) {
    if (answer && parser_->may_be_reused() && connection_.channel->all_sent())
      connections_->keep(std::move(connection_));
    else
      connection_.channel->close();
  }
  connection_ = {};
  if (answer) answer->body = std::move(body_);
  const auto on_answer = std::exchange(on_answer_, nullptr);
  on_answer(std::move(answer));
}

std::string Exchange::request_text() const {
  const Origin& origin = connections_->origin();
  const bool bracketed = origin.host.find(':') != std::string::npos;
  std::string text = request_.method + " " + request_.target + " HTTP/1.1\r\nHost: ";
  text += bracketed ? "[" + origin.host + "]" : origin.host;
  text += ":" + std::to_string(origin.port) + "\r\n";
  for (const auto& [name, value] : request_.headers) text.append(name).append(": ").append(value).append("\r\n");
  if (!request_.body.empty() || request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH")
    text += "Content-Length: " + std::to_string(request_.body.size()) + "\r\n";
  return text.append("\r\n").append(request_.body);
}

}  // namespace koord::http
