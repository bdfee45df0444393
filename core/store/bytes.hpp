// SPDX-License-Identifier: Apache-2.0
// Packed numbers in a byte string: variable-length integers, zigzag, little-endian words. The format of chunks, journal
// rows and stored labels. A reader never reads past its end: it fails and stays failed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace koord::store {

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

// Small magnitudes, of either sign, become small unsigned numbers. Differences wrap, so every pair of values works.
inline std::uint64_t zigzag(std::uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
inline std::uint64_t unzigzag(std::uint64_t packed) { return (packed >> 1) ^ (0 - (packed & 1)); }

// Room for one variable-length integer; returns its end.
inline constexpr std::size_t kMaxVarint = 10;
inline char* put_varint(char* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

inline void append_varint(std::string& out, std::uint64_t value) {
  char buffer[kMaxVarint];
  out.append(buffer, static_cast<std::size_t>(put_varint(buffer, value) - buffer));
}

inline void append_word(std::string& out, std::uint64_t word) {
  char buffer[sizeof word];
  std::memcpy(buffer, &word, sizeof word);
  out.append(buffer, sizeof word);
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const { return failed_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) return static_cast<std::uint8_t>(fail());
    return static_cast<std::uint8_t>(*at_++);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) return fail();
      auto part = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{part & 0x7fu} << (shift & 63);
      if (part < 0x80) return value;
    }
    return fail();
  }

  std::uint64_t word() {
    if (left() < sizeof(std::uint64_t)) return fail();
    std::uint64_t word;
    std::memcpy(&word, at_, sizeof word);
    at_ += sizeof word;
    return word;
  }

  std::string_view bytes(std::uint64_t count) {
    if (count > left()) {
      fail();
      return {};
    }
    std::string_view taken(at_, static_cast<std::size_t>(count));
    at_ += count;
    return taken;
  }

 private:
  std::uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace koord::store
