// SPDX-License-Identifier: Apache-2.0
// The pieces of the Prometheus text format 0.0.4, and a buffered writer for many short ones. A line of the
// registry is put together from texts that were rendered when its metric, subject and series were made, so
// writing one is four copies and one number. [any thread, one at a time]
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/metric/desc.hpp"
#include "core/metric/labels.hpp"

namespace koord::metric {

inline constexpr std::string_view kFamilyPrefix = "koordetector_";

// `,name="value"` for each label, values escaped; the first begins with `{` when `first` says so.
std::string render_labels(const Labels& labels, bool first);

// A help text on one line.
std::string escape_help(std::string_view help);

// The shortest text that reads back as the same number.
std::string format_number(double value);

// Appends to a string in large pieces. The string is complete after flush() or destruction.
class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}
  ~TextWriter() { flush(); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  TextWriter& text(std::string_view piece) {
    if (piece.empty()) return *this;  // memcpy must not see a null pointer, even for nothing
    if (piece.size() > buffer_.size() - used_) return long_text(piece);
    std::memcpy(buffer_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
    return *this;
  }
  TextWriter& number(double value);
  TextWriter& number(std::uint64_t value);
  void header(std::string_view family, std::string_view help, Type type);
  void flush();

 private:
  static constexpr std::size_t kMaxNumber = 32;
  TextWriter& long_text(std::string_view piece);
  char* room_for(std::size_t bytes);

  std::string& out_;
  std::size_t used_ = 0;
  std::array<char, 16 << 10> buffer_;
};

}  // namespace koord::metric
