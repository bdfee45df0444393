// SPDX-License-Identifier: Apache-2.0
#include "core/http/request_parser.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace koord::http;
using Progress = RequestParser::Progress;

namespace {

// Parses a header that arrives in pieces. Returns the parser's progress.
Progress parse_in_pieces(RequestParser& parser, std::string_view bytes, std::size_t piece) {
  parser.begin();
  auto progress = Progress::part;
  for (; progress == Progress::part && !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    parser.feed(bytes.substr(0, piece));
    progress = parser.parse_header();
  }
  return progress;
}

std::string header_of(std::size_t fields) {
  std::string header = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < fields; ++i) header += "X-Field: " + std::string(89, 'x') + "\r\n";
  return header + "\r\n";
}

}  // namespace

TEST_CASE("the limit of a header holds however it is cut into pieces") {
  for (std::size_t piece : {1u, 7u, 100u, 1000u, 10000u}) {
    RequestParser parser(1000);
    CHECK(parse_in_pieces(parser, header_of(9), piece) == Progress::whole);
    // Beast ignores what it has already parsed of the first piece.
    CHECK(parse_in_pieces(parser, header_of(20), piece) == Progress::bad);
    CHECK(parser.refusal().status == 431);
  }
}

TEST_CASE("the limit of a body holds however it is cut into chunks") {
  RequestParser parser(1000);
  parser.begin();
  parser.feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  REQUIRE(parser.parse_header() == Progress::whole);
  parser.limit_body(10);
  for (int i = 0; i < 2; ++i) {
    parser.feed("5\r\nabcde\r\n");
    CHECK(parser.parse_body() == Progress::part);
  }
  parser.feed("1\r\nf\r\n");
  CHECK(parser.parse_body() == Progress::bad);
  CHECK(parser.refusal().status == 413);
}

TEST_CASE("bytes behind a request are kept for the next") {
  RequestParser parser(1000);
  parser.feed("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  parser.begin();
  CHECK(parser.parse_header() == Progress::whole);
  CHECK(parser.target() == "/1");
  CHECK(parser.has_bytes());
  parser.begin();
  CHECK(parser.parse_header() == Progress::whole);
  CHECK(parser.target() == "/2");
  CHECK_FALSE(parser.has_bytes());
}

TEST_CASE("a body in chunks is read byte by byte, also one without a byte") {
  for (const std::string& chunks :
       {std::string("0\r\n\r\n"), std::string("2\r\nab\r\n0\r\n\r\n"), std::string("2\r\nab\r\n0\r\nA: b\r\n\r\n")}) {
    RequestParser parser(1000);
    REQUIRE(parse_in_pieces(parser, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 1) == Progress::whole);
    parser.limit_body(10);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      parser.feed(chunks.substr(i, 1));
      CHECK(parser.parse_body() == (i + 1 == chunks.size() ? Progress::whole : Progress::part));
    }
    CHECK(parser.take_body() == (chunks.starts_with('0') ? "" : "ab"));
  }
}

TEST_CASE("a chunk's header and a trailer without an end are refused as too large") {
  for (const char* begin : {"1;", "0\r\nA: "}) {
    RequestParser parser(1000);
    REQUIRE(parse_in_pieces(parser, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 100) == Progress::whole);
    parser.limit_body(10);
    parser.feed(begin + std::string(900, 'x'));
    CHECK(parser.parse_body() == Progress::part);
    parser.feed(std::string(100, 'x'));
    CHECK(parser.parse_body() == Progress::bad);
    CHECK(parser.refusal().status == 431);
  }
}

TEST_CASE("a body in an encoding other than chunked is refused, so its bytes are not the next request") {
  for (const char* encoding : {"xchunked", "gzip", "chunked, gzip", "identity"}) {
    CAPTURE(encoding);
    RequestParser parser(1000);
    CHECK(parse_in_pieces(parser, std::string("PUT / HTTP/1.1\r\nTransfer-Encoding: ") + encoding + "\r\n\r\n", 100) ==
          Progress::bad);
    CHECK(parser.refusal().status == 400);
  }
}

TEST_CASE("whether the stated body has come is known without parsing it") {
  RequestParser parser(1000);
  REQUIRE(parse_in_pieces(parser, "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", 100) == Progress::whole);
  CHECK_FALSE(parser.has_stated_body());
  parser.feed("ab");
  CHECK_FALSE(parser.has_stated_body());
  parser.feed("c");
  CHECK(parser.has_stated_body());
  CHECK(parser.parse_body() == Progress::whole);
  parser.begin();
  REQUIRE(parse_in_pieces(parser, "GET / HTTP/1.1\r\n\r\n", 100) == Progress::whole);
  CHECK(parser.has_stated_body());
}
