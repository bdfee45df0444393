// SPDX-License-Identifier: Apache-2.0
// The bytes of an answer made into one; Beast does the parsing. [any thread]
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/base/result.hpp"
#include "core/http/client.hpp"

namespace koord::http {

class ResponseParser {
 public:
  explicit ResponseParser(std::size_t max_body);
  ~ResponseParser();

  // Takes what came. Returns whether the answer is whole.
  Result<bool> feed(std::string_view bytes);
  // Nothing more will come, which ends an answer without a length and breaks off any other.
  Result<void> end();
  ClientResponse take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::http
