// SPDX-License-Identifier: Apache-2.0
// The bytes of one connection made into requests, one after the other; Beast does the parsing. Owner: the
// connection. [loop thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/message.hpp"

namespace koord::http {

class RequestParser {
 public:
  enum class Progress : std::uint8_t { part, whole, bad };

  explicit RequestParser(std::size_t max_header);
  ~RequestParser();

  // Takes what came, be it of this request or of those behind it.
  void feed(std::string_view bytes);
  // Something came that is not parsed yet.
  bool has_bytes() const;
  // Returns the size of what is kept of it. A whole header counts twice: a Request is a copy of it.
  std::size_t held_bytes() const;

  // Forgets the last request and begins the next.
  void begin();
  // Forgets everything.
  void drop();
  Progress parse_header();

  // With a whole header:
  std::optional<Method> method() const;  // none: not one of those that are served
  std::string_view target() const;
  Headers headers() const;
  bool keep_alive() const;
  bool is_whole() const;                  // the body, too
  bool limit_body(std::size_t max_body);  // false: the request is bad, its stated length is larger
  bool has_stated_body() const;  // as many bytes of the body have come as its header states, if it states a length
  Progress parse_body();         // takes memory for the stated length
  std::string take_body();

  // The response to a bad request.
  Response refusal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::http
