// SPDX-License-Identifier: Apache-2.0
// URLs with an authority, "https://HOST[:PORT][/PATH][?QUERY]", and percent-encoding (RFC 3986). [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

struct Url {
  std::string scheme;
  std::string host;                   // an IPv6 address without its brackets
  bool is_ipv6 = false;               // the host was in brackets
  std::optional<std::uint16_t> port;  // not 0
  std::string target;                 // path and query, as written; empty or begins with "/"

  // "HOST[:PORT]" with brackets, as in the header Host.
  std::string authority() const;
};

// Accepts no user name, no fragment, and only characters that a request may contain. An error says what is wrong,
// without the text.
Result<Url> parse_url(std::string_view text);

// Fails unless it begins with "/" and has only characters that a request's first line may contain.
Result<void> check_url_target(std::string_view target);

// "%41" to "A" and, in a query, "+" to a space. A broken escape and a NUL byte are errors.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space);
// Escapes everything but letters, digits and "-._~".
std::string percent_encode(std::string_view text);

}  // namespace koord
