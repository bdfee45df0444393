// SPDX-License-Identifier: Apache-2.0
// Parses the bytes of an answer with Beast; the body is kept or passed on piece by piece. Interim answers (1xx) are
// skipped. The kept part of an incomplete answer is bounded: the header, a chunk's header, a trailer, each by
// kMaxHeaderBytes, the body by the caller. [any thread, one at a time]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "core/base/result.hpp"
#include "core/http/client.hpp"

namespace koord::http {

inline constexpr std::size_t kMaxHeaderBytes = 16 << 10;

class ResponseParser {
 public:
  // Takes the next piece of the body, which is valid during the call; an error ends the parsing with it.
  using OnBody = std::function<Result<void>(std::string_view)>;

  // Without `on_body` the body is kept.
  explicit ResponseParser(std::size_t max_body, OnBody on_body = {});
  // The pieces may be endless; it is for `on_body` to have enough.
  explicit ResponseParser(OnBody on_body);
  ~ResponseParser();

  // Takes what came. Returns whether the answer is whole.
  Result<bool> feed(std::string_view bytes);
  // Nothing more will come, which ends an answer without a length and breaks off any other.
  Result<void> end();

  // The status line and the headers are there; on_body is not called before.
  bool has_header() const;
  unsigned status() const;
  // The answer is whole, nothing came after it, and the server takes another request on this connection.
  bool may_be_reused() const;
  // Returns the part of the answer that has come.
  ClientResponse take();

 private:
  struct State;
  Result<bool> parse(std::string_view& bytes);
  std::unique_ptr<State> state_;
};

}  // namespace koord::http
