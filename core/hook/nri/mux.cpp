// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/mux.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/hook/nri/big_endian.hpp"

namespace koord::nri {

void append_frame(std::string& out, std::uint32_t id, std::string_view payload) {
  assert(payload.size() <= kMaxSentFrame);
  append_big_endian(out, id);
  append_big_endian(out, static_cast<std::uint32_t>(payload.size()));
  out.append(payload);
}

void Demultiplexer::open(std::uint32_t id, OnBytes on_bytes) { streams_[id] = std::move(on_bytes); }

Result<void> Demultiplexer::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left_ == 0) {
      bytes = take_header(bytes);
      if (header_size_ == kFrameHeader) TRY(begin_frame());
      continue;
    }
    const std::string_view piece = bytes.substr(0, left_);
    left_ -= piece.size();
    bytes.remove_prefix(piece.size());
    if (current_) TRY((*current_)(piece));
  }
  return {};
}

// Returns the bytes after the header.
std::string_view Demultiplexer::take_header(std::string_view bytes) {
  const std::size_t n = std::min(kFrameHeader - header_size_, bytes.size());
  std::copy_n(bytes.data(), n, header_.data() + header_size_);
  header_size_ += n;
  return bytes.substr(n);
}

Result<void> Demultiplexer::begin_frame() {
  header_size_ = 0;
  const std::uint32_t id = read_big_endian(header_.data());
  left_ = read_big_endian(header_.data() + 4);
  if (left_ > kMaxReceivedFrame)
    return invalid("a frame of stream " + std::to_string(id) + " has " + std::to_string(left_) +
                   " bytes, expected at most " + std::to_string(kMaxReceivedFrame));
  const auto stream = streams_.find(id);
  current_ = stream == streams_.end() ? nullptr : &stream->second;
  if (!current_) ++dropped_frames_;
  return {};
}

}  // namespace koord::nri
