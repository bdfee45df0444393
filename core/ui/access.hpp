// SPDX-License-Identifier: Apache-2.0
// Access: decides which requests `koordctl ui` answers. A one-time token starts a session; each further request needs
// the session's cookie. It refuses requests that come from other pages, or that use other names of this machine. [loop
// thread]
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/http/message.hpp"

namespace koord::ui {

class Access {
 public:
  // `port`: the port of the server.
  explicit Access(std::uint16_t port) : port_(port) {}

  // Creates a token for one session. Fails if the kernel provides no random bytes.
  Result<std::string> new_token();

  // Returns the response to a request that must not be processed further, nullopt for all others:
  // 403: the header Host is missing, repeated, or not a loopback name; or the request comes from a different origin
  // 405: the method is neither GET nor HEAD
  // 200: GET /?token=T with an unused token; the response has the cookie of a new session, and a page that opens "/"
  // 401: a different token, or no session cookie
  std::optional<http::Response> check(const http::Request& request);

  // Returns the number of sessions that tokens have started.
  std::uint64_t sessions_started() const { return started_; }

 private:
  bool is_own_authority(std::string_view authority) const;
  bool is_from_own_page(const http::Request& request) const;
  bool has_session(const http::Request& request) const;
  http::Response redeem(std::string_view token);
  std::string cookie_name() const;

  const std::uint16_t port_;
  std::deque<std::string> tokens_, sessions_;  // the newest is the last
  std::uint64_t started_ = 0;
};

}  // namespace koord::ui
