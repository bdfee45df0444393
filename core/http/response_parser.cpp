// SPDX-License-Identifier: Apache-2.0
#include "core/http/response_parser.hpp"

#include <boost/beast/http/parser.hpp>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/http/last_chunk.hpp"

namespace koord::http {
namespace {

namespace wire = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr unsigned kMaxInterimAnswers = 8;

Error not_an_answer(const std::string& why) { return Error{std::make_error_code(std::errc::protocol_error), why}; }

Error too_large(std::size_t max_body) {
  return {std::make_error_code(std::errc::message_size),
          "found a body of more than " + std::to_string(max_body) + " bytes, expected at most those"};
}

// The receiver of the pieces of a body.
struct Sink {
  ResponseParser::OnBody on_body;
  std::size_t max_body = std::numeric_limits<std::size_t>::max();  // limit for bodies with a stated length
  std::optional<Error> refused;
};

// A body type for Beast that stores nothing, because each piece is passed to the sink.
struct PassedOn {
  using value_type = Sink*;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(wire::header<isRequest, Fields>&, value_type& sink) : sink_(sink) {}

    void init(const boost::optional<std::uint64_t>& size, ErrorCode& error) {
      error = {};
      if (size.value_or(0) <= sink_->max_body) return;
      sink_->refused = too_large(sink_->max_body);
      error = wire::error::body_limit;
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, ErrorCode& error) {
      std::size_t size = 0;
      error = {};
      for (auto one = boost::asio::buffer_sequence_begin(buffers); one != boost::asio::buffer_sequence_end(buffers);
           ++one) {
        const boost::asio::const_buffer buffer(*one);
        Result<void> taken = sink_->on_body({static_cast<const char*>(buffer.data()), buffer.size()});
        size += buffer.size();
        if (taken) continue;
        sink_->refused = std::move(taken).error();
        error = wire::error::body_limit;
        break;
      }
      return size;
    }

    void finish(ErrorCode& error) { error = {}; }

   private:
    value_type& sink_;
  };
};

using Parser = wire::response_parser<PassedOn>;

}  // namespace

struct ResponseParser::State {
  std::string body;   // if it is kept
  std::string bytes;  // received, not yet parsed
  Sink sink;
  std::optional<Parser> parser;
  unsigned interim_answers = 0;
  bool bytes_behind = false;
  bool in_chunk_header = false;

  void begin() {
    parser.emplace();
    parser->get().body() = &sink;
    parser->header_limit(kMaxHeaderBytes);
    parser->body_limit(boost::none);
    parser->eager(true);
  }
  // Returns whether the real answer follows this one.
  bool is_interim() const { return parser->get().result_int() / 100 == 1 && parser->get().result_int() != 101; }
};

ResponseParser::ResponseParser(OnBody on_body) : state_(std::make_unique<State>()) {
  state_->sink.on_body = std::move(on_body);
  state_->begin();
}

ResponseParser::ResponseParser(std::size_t max_body, OnBody on_body) : ResponseParser(OnBody()) {
  state_->sink.max_body = max_body;
  state_->sink.on_body = [&body = state_->body, on_body = std::move(on_body), max_body,
                          left = max_body](std::string_view piece) mutable -> Result<void> {
    if (piece.size() > left) return too_large(max_body);
    left -= piece.size();
    if (on_body) return on_body(piece);
    body += piece;
    return {};
  };
}

ResponseParser::~ResponseParser() = default;

Result<bool> ResponseParser::feed(std::string_view bytes) {
  std::string& rest = state_->bytes;
  // Usually nothing is buffered, and the new bytes are parsed in place.
  if (rest.empty()) {
    const bool whole = TRY(parse(bytes));
    rest = bytes;
    if (whole) state_->bytes_behind = !bytes.empty();
    return whole;
  }
  rest += bytes;
  std::string_view all = rest;
  const bool whole = TRY(parse(all));
  if (whole) state_->bytes_behind = !all.empty();
  rest.erase(0, rest.size() - all.size());
  return whole;
}

// Parses `bytes`, and removes the parsed part from it.
Result<bool> ResponseParser::parse(std::string_view& bytes) {
  State& state = *state_;
  if (state.in_chunk_header && bytes.size() < kLastChunkBytes) return false;
  state.in_chunk_header = false;
  while (!bytes.empty() && !state.parser->is_done()) {
    ErrorCode error;
    bytes.remove_prefix(state.parser->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error));
    if (state.sink.refused) return *state.sink.refused;
    if (error == wire::error::need_more) {
      state.in_chunk_header = state.parser->is_header_done();
      if (bytes.size() > kMaxHeaderBytes)
        return not_an_answer("found a chunk's header of more than " + std::to_string(kMaxHeaderBytes) + " bytes");
      return false;
    }
    if (error) return not_an_answer(error.message());
    if (!state.parser->is_done() || !state.is_interim()) continue;
    if (++state.interim_answers > kMaxInterimAnswers) return not_an_answer("found no answer but interim ones");
    state.begin();
  }
  return state.parser->is_done();
}

Result<void> ResponseParser::end() {
  ErrorCode error = wire::error::end_of_stream;
  if (state_->parser->got_some()) state_->parser->put_eof(error);
  if (error) return not_an_answer(error.message());
  return {};
}

bool ResponseParser::has_header() const { return state_->parser->is_header_done() && !state_->is_interim(); }

unsigned ResponseParser::status() const { return state_->parser->get().result_int(); }

bool ResponseParser::may_be_reused() const {
  return state_->parser->is_done() && state_->parser->keep_alive() && !state_->bytes_behind;
}

ClientResponse ResponseParser::take() {
  ClientResponse response;
  response.status = status();
  for (const auto& field : state_->parser->get()) {
    response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  response.body = std::move(state_->body);
  return response;
}

}  // namespace koord::http
