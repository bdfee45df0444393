// SPDX-License-Identifier: Apache-2.0
// Requests and responses of handlers: plain values, no network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/body_stream.hpp"
#include "core/http/url.hpp"

namespace koord::http {

struct LocalPeer;
struct TlsPeer;

// The client of a request as a guard knows it, for the handler. Guard and handler agree on the type.
struct RequestClient {
  RequestClient() = default;
  virtual ~RequestClient() = default;
  RequestClient(const RequestClient&) = delete;
  RequestClient& operator=(const RequestClient&) = delete;
};

enum class Method { get, head, post, put, patch, remove };  // `remove`: DELETE

inline bool is_read(Method method) { return method == Method::get || method == Method::head; }

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Method method = Method::get;
  std::string path;
  Query query;
  Headers headers;
  std::string body;
  bool from_unix_socket = false;                          // the peer is local and was admitted to a unix socket of ours
  std::shared_ptr<const LocalPeer> peer = nullptr;        // set with from_unix_socket
  std::shared_ptr<const TlsPeer> tls = nullptr;           // null: not TLS
  std::shared_ptr<const RequestClient> client = nullptr;  // set by the guard

  // The first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

struct Response {
  unsigned status = 200;
  std::string content_type{kPlainText};
  std::string body;
  // Sent instead of `body` when it is set, as it is: for an answer that many connections share.
  std::shared_ptr<const std::string> shared_body = nullptr;
  std::shared_ptr<BodyStream> stream = nullptr;  // sent in chunks instead of the above when it is set
  Headers headers = {};  // further ones; length, encoding and connection are the server's matter

  std::size_t body_size() const { return shared_body ? shared_body->size() : body.size(); }
};

// A line of plain text, as all errors of the server are answered.
Response plain_text(unsigned status, std::string_view text);

}  // namespace koord::http
