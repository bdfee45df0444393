// SPDX-License-Identifier: Apache-2.0
// ttrpc, the calls on one stream of an NRI socket. A message is a header of 10 bytes (length, call id, type, flags) and
// a request or a response in protobuf. Pure. [one thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::nri {

inline constexpr std::size_t kMessageHeader = 10;
inline constexpr std::size_t kMaxSentMessage = 4U << 20;
// Runtimes before NRI 0.7 cannot split a Synchronize, and send more than 4 MiB. Longer messages are refused.
inline constexpr std::size_t kMaxReceivedMessage = 16U << 20;

enum class MessageType : std::uint8_t { request = 1, response = 2, data = 3 };

// Codes of gRPC that NRI uses.
enum class Code : std::int32_t {
  ok = 0,
  unknown = 2,  // the error of a handler
  invalid_argument = 3,
  deadline_exceeded = 4,
  resource_exhausted = 8,
  unimplemented = 12,
};

struct CallStatus {
  Code code = Code::ok;
  std::string message = {};
};

struct Request {
  std::string service;
  std::string method;
  std::string payload = {};
  Duration timeout = Duration::zero();  // zero: none
};

struct Response {
  CallStatus status = {};
  std::string payload = {};
};

std::string encode(const Request& request);
std::string encode(const Response& response);
Result<Request> read_request(std::string_view bytes);
Result<Response> read_response(std::string_view bytes);

// Appends a message to what is sent: its header as one frame and its body as another. NRI's multiplexer in Go ends the
// connection on a message that begins with one frame of more than 4096 bytes.
void append_message(std::string& out, std::uint32_t stream, std::uint32_t call, MessageType type,
                    std::string_view body);

struct Message {
  std::uint32_t call = 0;
  MessageType type = MessageType::request;
  std::size_t size = 0;
  std::string_view body = {};  // valid for the call; empty if the message is too large

  bool too_large() const { return size > kMaxReceivedMessage; }
};

// Assembles messages from the bytes of one stream. It keeps nothing of a message that is too large.
class MessageReader {
 public:
  using OnMessage = std::function<Result<void>(const Message& message)>;

  explicit MessageReader(OnMessage on_message) : on_message_(std::move(on_message)) {}

  Result<void> take(std::string_view bytes);

 private:
  bool in_body() const { return header_size_ == kMessageHeader; }
  void begin_message();
  std::string_view take_header(std::string_view bytes);
  std::string_view take_body(std::string_view bytes);
  Result<void> end_message();

  const OnMessage on_message_;
  std::array<char, kMessageHeader> header_{};
  std::size_t header_size_ = 0;
  Message message_;
  std::size_t left_ = 0;  // of the body
  std::string body_;
};

}  // namespace koord::nri
