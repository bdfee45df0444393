// SPDX-License-Identifier: Apache-2.0
#include "core/http/request_parser.hpp"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <utility>

#include "core/http/last_chunk.hpp"

namespace koord::http {
namespace {

namespace wire = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Returns the bytes that the text has allocated. A short text is part of its object.
std::size_t allocated(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() : 0;
}

}  // namespace

struct RequestParser::State {
  explicit State(std::size_t header) : max_header(header) {}

  // Runs one step of the parser. Bytes after the request stay unread. Returns whether it must wait for more bytes.
  bool must_wait() {
    if (bytes.empty() || (in_chunk_header && bytes.size() < kLastChunkBytes)) return true;
    const bool was_header = !parser->is_header_done();
    const std::size_t parsed = parser->put({bytes.data(), bytes.size()}, error);
    if (was_header) header_bytes += parsed;
    bytes.erase(0, parsed);
    in_chunk_header = error == wire::error::need_more && parser->is_header_done();
    if (error != wire::error::need_more) return false;
    error = {};
    if (in_chunk_header && bytes.size() > max_header) error = wire::error::header_limit;
    return !error;
  }

  const std::size_t max_header;
  std::string bytes;
  std::size_t header_bytes = 0;  // of the current request
  std::optional<wire::request_parser<wire::string_body>> parser;
  boost::system::error_code error;
  bool in_chunk_header = false;
};

RequestParser::RequestParser(std::size_t max_header) : state_(std::make_unique<State>(max_header)) {}

RequestParser::~RequestParser() = default;

void RequestParser::feed(std::string_view bytes) { state_->bytes += bytes; }

bool RequestParser::has_bytes() const { return !state_->bytes.empty(); }

std::size_t RequestParser::held_bytes() const {
  const auto& parser = state_->parser;
  if (!parser) return state_->bytes.size();
  return state_->bytes.size() + (parser->is_header_done() ? 2 : 1) * state_->header_bytes +
         allocated(parser->get().body());
}

// Prepares for the next request. An idle connection frees the memory of its last request, because thousands of agents
// may be connected.
void RequestParser::begin() {
  if (state_->bytes.empty()) std::string().swap(state_->bytes);
  state_->error = {};
  state_->in_chunk_header = false;
  state_->header_bytes = 0;
  state_->parser.emplace();
  state_->parser->header_limit(static_cast<std::uint32_t>(state_->max_header));
  state_->parser->body_limit(boost::none);  // set by limit_body()
}

void RequestParser::drop() {
  state_->bytes.clear();
  begin();
}

RequestParser::Progress RequestParser::parse_header() {
  while (!state_->error && !state_->parser->is_header_done()) {
    if (state_->must_wait()) return Progress::part;
  }
  // Beast treats a body in an unknown encoding as missing, and its bytes as the next request.
  const auto& request = state_->parser->get();
  if (!state_->error && request.count(wire::field::transfer_encoding) != 0 && !state_->parser->chunked())
    state_->error = wire::error::bad_transfer_encoding;
  return state_->error ? Progress::bad : Progress::whole;
}

std::optional<Method> RequestParser::method() const {
  switch (state_->parser->get().method()) {
    case wire::verb::get:
      return Method::get;
    case wire::verb::head:
      return Method::head;
    case wire::verb::post:
      return Method::post;
    case wire::verb::put:
      return Method::put;
    case wire::verb::patch:
      return Method::patch;
    case wire::verb::delete_:
      return Method::remove;
    default:
      return std::nullopt;
  }
}

std::string_view RequestParser::target() const { return view(state_->parser->get().target()); }

Headers RequestParser::headers() const {
  Headers headers;
  for (const auto& field : state_->parser->get()) headers.emplace_back(view(field.name_string()), view(field.value()));
  return headers;
}

bool RequestParser::keep_alive() const { return state_->parser->keep_alive(); }

bool RequestParser::is_whole() const { return state_->parser->is_done(); }

// Sets the limit. Beast compares a stated length with the limit only while it parses the header, so the length is
// checked here.
bool RequestParser::limit_body(std::size_t max_body) {
  state_->parser->body_limit(max_body);
  if (state_->parser->content_length().value_or(0) > max_body) state_->error = wire::error::body_limit;
  return !state_->error;
}

bool RequestParser::has_stated_body() const {
  return state_->bytes.size() >= state_->parser->content_length().value_or(0);
}

RequestParser::Progress RequestParser::parse_body() {
  state_->parser->eager(true);
  while (!state_->error && !is_whole()) {
    if (state_->must_wait()) return Progress::part;
  }
  return state_->error ? Progress::bad : Progress::whole;
}

std::string RequestParser::take_body() { return std::move(state_->parser->get().body()); }

Response RequestParser::refusal() const {
  const auto& error = state_->error;
  if (error == wire::error::header_limit) return plain_text(431, "the header is too large");
  if (error == wire::error::body_limit) return plain_text(413, "the body is too large");
  return plain_text(400, "not an HTTP request: " + error.message());
}

}  // namespace koord::http
