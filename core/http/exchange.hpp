// SPDX-License-Identifier: Apache-2.0
// Exchange: one request of an AsyncClient and its answer, from waiting for a connection to returning it. [loop thread]
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/async_client.hpp"
#include "core/http/connections.hpp"
#include "core/http/dial.hpp"
#include "core/http/response_parser.hpp"

namespace koord::http {

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // `on_piece` and `on_begin`: of a stream.
  Exchange(std::shared_ptr<Connections> connections, AsyncRequest request, AsyncClient::OnPiece on_piece,
           AsyncClient::OnAnswer on_answer, std::function<void()> on_begin);

  void start();
  // Cancels the exchange: no callback is called any more.
  void cancel();
  // Returns whether bytes of the request were passed to a connection.
  bool was_sent() const { return was_sent_; }

 private:
  void find_connection();
  void connect(std::shared_ptr<Slot> slot);
  void on_dialled(Result<std::shared_ptr<Channel>> channel);
  void use(Lease connection);
  void on_bytes(std::string_view bytes);
  void on_closed(Result<void> why);
  Result<void> on_body(std::string_view piece);
  bool is_stream() const { return on_piece_ && parser_->status() / 100 == 2; }
  bool send_again();
  void set_deadline(Duration left);
  void on_deadline();
  void fail_soon(Error error);
  void finish(Result<ClientResponse> answer);
  std::string request_text() const;

  const std::shared_ptr<Connections> connections_;
  const AsyncRequest request_;
  const AsyncClient::OnPiece on_piece_;
  AsyncClient::OnAnswer on_answer_;
  const std::function<void()> on_begin_;
  std::unique_ptr<event::Timer> deadline_;
  std::shared_ptr<std::function<void()>> waiting_;
  std::shared_ptr<Dial> dial_;
  Lease connection_;
  std::optional<ResponseParser> parser_;
  std::string body_;
  const char* doing_ = "waiting for a connection";
  bool got_bytes_ = false;
  bool sent_again_ = false;
  bool was_sent_ = false;
  bool streaming_ = false;  // the deadline is that of silence
  bool done_ = false;
};

}  // namespace koord::http
