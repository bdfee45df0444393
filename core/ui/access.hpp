// SPDX-License-Identifier: Apache-2.0
// Access: decides which requests `koordctl ui` answers. A one-time token starts a session; each further request needs
// the session's cookie. Requests that other pages or other names of this machine cause are refused. [loop thread]
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
  // `port`: where the server listens.
  explicit Access(std::uint16_t port) : port_(port) {}

  // Makes a token for one session. Fails if the kernel has no random bytes.
  Result<std::string> new_token();

  // Returns the answer to a request that gets no further, nullopt for all others:
  // 403: the header Host is missing, repeated, or no name of this machine's loopback; or another origin sent it
  // 405: neither GET nor HEAD
  // 200: GET /?token=T with an unused token: the cookie of a new session, and a page that goes to "/"
  // 401: any other token, or no cookie of a session
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
  std::deque<std::string> tokens_, sessions_;  // the newest last
  std::uint64_t started_ = 0;
};

}  // namespace koord::ui
