// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/compressed_text.hpp"

#include <zlib.h>

#include <cerrno>

namespace koord::aggregated {
namespace {

// These make a state of 160 KiB. A smaller window takes more time, since the state is moved more often.
constexpr int kLevel = 1, kWindowBits = 15, kMemoryLevel = 6;

// zlib does not write to its input, but takes it as if it did.
Bytef* as_input(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// Empty: it does not shrink, or there is no memory for the state.
std::string compressed(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(text.size() - 1, '\0');
  stream.next_in = as_input(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  const std::size_t size = out.size() - stream.avail_out;
  deflateEnd(&stream);
  return status == Z_STREAM_END ? out.substr(0, size) : std::string();
}

}  // namespace

CompressedText::CompressedText(std::string_view text) : size_(text.size()) {
  if (size_ >= kLeastBytes) kept_ = compressed(text);
  if (kept_.empty()) kept_ = text;
}

Result<std::string> CompressedText::text() const {
  if (is_plain()) return kept_;
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return system_error(ENOMEM, "cannot unpack a compressed text");
  std::string text(size_, '\0');
  stream.next_in = as_input(kept_);
  stream.avail_in = static_cast<uInt>(kept_.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (is_whole) return text;
  return invalid("a compressed text is damaged in memory: expected " + std::to_string(size_) + " bytes from " +
                 std::to_string(kept_.size()));
}

}  // namespace koord::aggregated
