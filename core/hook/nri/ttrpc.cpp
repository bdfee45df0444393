// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/ttrpc.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/hook/nri/big_endian.hpp"
#include "core/hook/nri/mux.hpp"
#include "core/hook/nri/protobuf.hpp"

namespace koord::nri {
namespace {

// Most messages fit into a block of this size. The announced length of a larger message is not reserved in advance.
constexpr std::size_t kFirstBlock = 64 << 10;

void read(Reader& in, CallStatus& status) {
  while (in.next()) {
    if (in.field() == 1) status.code = static_cast<Code>(in.int32());
    if (in.field() == 2) in.read(status.message);
  }
}

}  // namespace

std::string encode(const Request& request) {
  Writer out;
  out.text(1, request.service);
  out.text(2, request.method);
  out.bytes(3, request.payload);
  out.number(4, static_cast<std::uint64_t>(request.timeout.count()));
  return std::move(out).finish();
}

std::string encode(const Response& response) {
  Writer out;
  if (response.status.code != Code::ok) {
    out.message(1, [&](Writer& status) {
      status.number(1, static_cast<std::uint64_t>(response.status.code));
      status.text(2, response.status.message);
    });
  }
  out.bytes(2, response.payload);
  return std::move(out).finish();
}

Result<Request> read_request(std::string_view bytes) {
  Budget budget;
  Reader in(bytes, budget);
  Request request;
  while (in.next()) {
    if (in.field() == 1) in.read(request.service);
    if (in.field() == 2) in.read(request.method);
    if (in.field() == 3) request.payload = in.bytes();
    if (in.field() == 4) request.timeout = std::max(Duration::zero(), Duration(in.int64()));
  }
  TRY(in.finish("request"));
  return request;
}

Result<Response> read_response(std::string_view bytes) {
  Budget budget;
  Reader in(bytes, budget);
  Response response;
  while (in.next()) {
    if (in.field() == 1) in.message([&](Reader& status) { read(status, response.status); });
    if (in.field() == 2) response.payload = in.bytes();
  }
  TRY(in.finish("response"));
  return response;
}

void append_message(std::string& out, std::uint32_t stream, std::uint32_t call, MessageType type,
                    std::string_view body) {
  assert(body.size() <= kMaxSentMessage);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(body.size()));
  append_big_endian(header, call);
  header.push_back(static_cast<char>(type));
  header.push_back(0);  // flags
  append_frame(out, stream, header);
  if (!body.empty()) append_frame(out, stream, body);
}

Result<void> MessageReader::take(std::string_view bytes) {
  while (!bytes.empty()) {
    bytes = in_body() ? take_body(bytes) : take_header(bytes);
    if (in_body() && left_ == 0) TRY(end_message());
  }
  return {};
}

// take_header() and take_body() return the bytes after their part.
std::string_view MessageReader::take_header(std::string_view bytes) {
  const std::size_t n = std::min(kMessageHeader - header_size_, bytes.size());
  std::copy_n(bytes.data(), n, header_.data() + header_size_);
  header_size_ += n;
  if (in_body()) begin_message();
  return bytes.substr(n);
}

std::string_view MessageReader::take_body(std::string_view bytes) {
  const std::string_view piece = bytes.substr(0, left_);
  left_ -= piece.size();
  if (!message_.too_large()) body_.append(piece);
  return bytes.substr(piece.size());
}

void MessageReader::begin_message() {
  left_ = read_big_endian(header_.data());
  message_ = {.call = read_big_endian(header_.data() + 4),
              .type = static_cast<MessageType>(static_cast<std::uint8_t>(header_[8])),
              .size = left_};
  if (!message_.too_large()) body_.reserve(std::min(left_, kFirstBlock));
}

Result<void> MessageReader::end_message() {
  header_size_ = 0;
  const std::string body = std::exchange(body_, {});
  message_.body = body;
  return on_message_(message_);
}

}  // namespace koord::nri
