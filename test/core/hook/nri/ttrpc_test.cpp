// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/ttrpc.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/hook/nri/big_endian.hpp"
#include "core/hook/nri/mux.hpp"

using namespace koord;
using namespace koord::nri;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

struct Received {
  std::uint32_t call;
  MessageType type;
  std::size_t size;
  std::string body;
  bool too_large;
};

struct Messages {
  std::vector<Received> list;
  MessageReader reader{[this](const Message& message) -> Result<void> {
    list.push_back({message.call, message.type, message.size, std::string(message.body), message.too_large()});
    return {};
  }};
};

std::string message_bytes(std::uint32_t call, std::uint8_t type, std::string_view body, std::uint8_t flags = 0) {
  std::string bytes;
  append_big_endian(bytes, static_cast<std::uint32_t>(body.size()));
  append_big_endian(bytes, call);
  bytes.push_back(static_cast<char>(type));
  bytes.push_back(static_cast<char>(flags));
  bytes.append(body);
  return bytes;
}

}  // namespace

TEST_CASE("a message is sent as a frame with its header and a frame with its body") {
  std::string bytes;
  append_message(bytes, 2, 5, MessageType::request, "body");
  CHECK(bytes == "\0\0\0\2\0\0\0\x0A"
                 "\0\0\0\4\0\0\0\5\1\0"
                 "\0\0\0\2\0\0\0\4"
                 "body"s);
}

TEST_CASE("a message without a body is one frame") {
  std::string bytes;
  append_message(bytes, 1, 3, MessageType::response, "");
  CHECK(bytes == "\0\0\0\1\0\0\0\x0A"
                 "\0\0\0\0\0\0\0\3\2\0"s);
}

TEST_CASE("messages are assembled from pieces of any size") {
  const std::string bytes = message_bytes(1, 1, "one") + message_bytes(3, 2, "", 4) + message_bytes(5, 3, "three");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    CAPTURE(piece);
    Messages out;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      REQUIRE(out.reader.take(std::string_view(bytes).substr(at, piece)));
    REQUIRE(out.list.size() == 3);
    CHECK(out.list[0].body == "one");
    CHECK(out.list[1].call == 3);
    CHECK(out.list[1].type == MessageType::response);
    CHECK(out.list[2].body == "three");
    CHECK(out.list[2].type == MessageType::data);
  }
}

TEST_CASE("a message that is too large is reported without its body, and the next one is read") {
  Messages out;
  REQUIRE(
      out.reader.take(message_bytes(1, 1, std::string(kMaxReceivedMessage + 1, 'x')) + message_bytes(3, 1, "next")));
  REQUIRE(out.list.size() == 2);
  CHECK(out.list[0].too_large);
  CHECK(out.list[0].size == kMaxReceivedMessage + 1);
  CHECK(out.list[0].body.empty());
  CHECK(out.list[1].body == "next");
}

TEST_CASE("a request names service, method, payload and timeout") {
  const std::string bytes = encode(Request{.service = "s", .method = "m", .payload = "p", .timeout = 2ns});
  CHECK(bytes == "\x0A\1s\x12\1m\x1A\1p\x20\2");
  const auto request = read_request(bytes);
  REQUIRE(request);
  CHECK(request->service == "s");
  CHECK(request->method == "m");
  CHECK(request->payload == "p");
  CHECK(request->timeout == 2ns);
}

TEST_CASE("the metadata of a request is skipped") {
  const auto request = read_request("\x2A\6\x0A\1k\x12\1v\x12\1m"s);
  REQUIRE(request);
  CHECK(request->method == "m");
}

TEST_CASE("a negative timeout means no timeout") {
  const auto request = read_request("\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"s);
  REQUIRE(request);
  CHECK(request->timeout == 0ns);
}

TEST_CASE("a response of success has no status") {
  CHECK(encode(Response{}).empty());
  CHECK(encode(Response{.payload = "p"}) == "\x12\1p");
  CHECK(read_response("")->status.code == Code::ok);
}

TEST_CASE("a response with a status has a code and a text") {
  const std::string bytes = encode(Response{.status = {.code = Code::unimplemented, .message = "no"}});
  CHECK(bytes == "\x0A\6\x08\x0C\x12\2no");
  const auto response = read_response(bytes);
  REQUIRE(response);
  CHECK(response->status.code == Code::unimplemented);
  CHECK(response->status.message == "no");
}

TEST_CASE("a body that is not a request is an error") {
  CHECK(read_request("\x0A\5s").error().message() == "request, field 1: a value is cut off");
  CHECK(read_response("\x0A\2\x08").error().message() == "response, field 1: a value is cut off");
}
