// SPDX-License-Identifier: Apache-2.0
#include "core/http/response_parser.hpp"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>
#include <utility>

namespace koord::http {
namespace {

namespace wire = boost::beast::http;
using ErrorCode = boost::system::error_code;

Error not_an_answer(const ErrorCode& error) {
  return Error{std::make_error_code(std::errc::protocol_error), error.message()};
}

}  // namespace

struct ResponseParser::State {
  explicit State(std::size_t most) : max_body(most) {}

  const std::size_t max_body;
  std::string bytes;  // that came and are not parsed yet
  wire::response_parser<wire::string_body> parser;
};

ResponseParser::ResponseParser(std::size_t max_body) : state_(std::make_unique<State>(max_body)) {
  state_->parser.body_limit(max_body);
  state_->parser.eager(true);
}

ResponseParser::~ResponseParser() = default;

Result<bool> ResponseParser::feed(std::string_view bytes) {
  auto& [max_body, rest, parser] = *state_;
  rest += bytes;
  while (!parser.is_done() && !rest.empty()) {
    ErrorCode error;
    rest.erase(0, parser.put({rest.data(), rest.size()}, error));
    if (error == wire::error::need_more) return false;
    if (error == wire::error::body_limit)
      return Error{std::make_error_code(std::errc::message_size), "found a body of more than " + std::to_string(max_body) + " bytes, expected at most those"};
    if (error) return not_an_answer(error);
  }
  return parser.is_done();
}

Result<void> ResponseParser::end() {
  ErrorCode error = wire::error::end_of_stream;
  if (state_->parser.got_some()) state_->parser.put_eof(error);
  if (error) return not_an_answer(error);
  return {};
}

ClientResponse ResponseParser::take() {
  auto message = state_->parser.release();
  ClientResponse response;
  response.status = message.result_int();
  for (const auto& field : message) {
    response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  response.body = std::move(message.body());
  return response;
}

}  // namespace koord::http
