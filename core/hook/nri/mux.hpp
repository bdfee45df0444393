// SPDX-License-Identifier: Apache-2.0
// The multiplexer of an NRI socket: two byte streams on one connection, cut into frames. A frame is the stream's id (4
// bytes), the length of the payload (4 bytes), both big-endian, and the payload. Frames say nothing about messages: a
// message may come in many frames. Pure. [one thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::nri {

inline constexpr std::uint32_t kPluginStream = 1;   // the runtime calls the plugin
inline constexpr std::uint32_t kRuntimeStream = 2;  // the plugin calls the runtime

inline constexpr std::size_t kFrameHeader = 8;
// Largest payload that all runtimes take: a message of 4 MiB and its header.
inline constexpr std::size_t kMaxSentFrame = (4U << 20) + 10;
// Runtimes before NRI 0.7 send frames of up to 16 MiB.
inline constexpr std::size_t kMaxReceivedFrame = (16U << 20) + 10;

// Appends one frame. The payload has at most kMaxSentFrame bytes.
void append_frame(std::string& out, std::uint32_t id, std::string_view payload);

// Splits received bytes into the streams. It keeps no payload: each piece goes on as it comes.
class Demultiplexer {
 public:
  // Receives the next bytes of a stream. An error ends the connection.
  using OnBytes = std::function<Result<void>(std::string_view bytes)>;

  // Frames of ids that are not opened are dropped.
  void open(std::uint32_t id, OnBytes on_bytes);

  // Fails for a frame that is longer than kMaxReceivedFrame, and with the error of a stream. Not usable after that.
  Result<void> take(std::string_view bytes);

  std::uint64_t dropped_frames() const { return dropped_frames_; }

 private:
  Result<void> begin_frame();
  std::string_view take_header(std::string_view bytes);

  std::map<std::uint32_t, OnBytes> streams_;
  std::array<char, kFrameHeader> header_{};
  std::size_t header_size_ = 0;
  std::size_t left_ = 0;              // of the payload of the current frame
  const OnBytes* current_ = nullptr;  // null: the frame is dropped
  std::uint64_t dropped_frames_ = 0;
};

}  // namespace koord::nri
