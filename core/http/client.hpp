// SPDX-License-Identifier: Apache-2.0
// A blocking HTTP client: for programs that ask the agent once and end, such as koordctl, and for the host when it asks
// other programs for their metrics. [any thread]
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/message.hpp"
#include "core/http/tls.hpp"

namespace koord::http {

struct ClientResponse {
  unsigned status = 0;
  Headers headers;
  std::string body;

  // The first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

// Larger answers are refused.
inline constexpr std::size_t kMaxClientBody = 256u << 20;

struct ClientOptions {
  Duration timeout = std::chrono::seconds(5);  // for everything together
  Headers headers = {};
  std::size_t max_body = kMaxClientBody;
  int cancel_fd = -1;  // when it becomes readable, the exchange ends with operation_canceled; -1: never
  std::optional<TlsOptions> tls = std::nullopt;  // https
  // Gets each piece of a body of up to max_body, which then is not kept; an error ends the exchange with it. Empty:
  // kept.
  std::function<Result<void>(std::string_view)> on_body = {};
};

// `endpoint`: the path of a unix socket ("/run/…" or "unix:///run/…") or "127.0.0.1:9316" with an optional
// "http://"; `target`: "/path?query". The timeout is for everything together. An answer of any status is a
// value.
Result<ClientResponse> get(std::string_view endpoint, std::string_view target,
                           Duration timeout = std::chrono::seconds(5), const Headers& headers = {});
Result<ClientResponse> get(std::string_view endpoint, std::string_view target, const ClientOptions& options);
Result<ClientResponse> post(std::string_view endpoint, std::string_view target, std::string_view body,
                            Duration timeout = std::chrono::seconds(5), const Headers& headers = {});

}  // namespace koord::http
