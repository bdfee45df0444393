// SPDX-License-Identifier: Apache-2.0
// Records of a state that is kept over restarts: a line each, of the format's version, a checksum, then fields between
// blanks. Numbers are written so that they read back as they were. A record that is damaged, of another version or
// impossible is dropped by itself; the others count. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord {

inline constexpr std::size_t kMaxFieldBytes = 256;

// Whether a text can be a field: 1 to kMaxFieldBytes bytes, no blank or control character.
bool can_be_a_field(std::string_view text);

// These fields as a line with version and checksum.
std::string sealed_record(int version, std::string_view fields);
// Returns the fields. Fails if the version is another, or the checksum is wrong.
Result<std::string_view> open_record(int version, std::string_view line);

class RecordWriter {
 public:
  RecordWriter& operator<<(std::string_view text) {
    if (!text_.empty()) text_ += ' ';
    text_ += text;
    return *this;
  }
  RecordWriter& operator<<(std::int64_t number);
  RecordWriter& operator<<(double number);
  RecordWriter& operator<<(float number);
  RecordWriter& operator<<(std::uint64_t number);
  RecordWriter& operator<<(Time time) { return *this << std::int64_t{time.time_since_epoch().count()}; }

  std::string line(int version) const { return sealed_record(version, text_); }

 private:
  std::string text_;
};

// The fields of a record from left to right.
class FieldReader {
 public:
  explicit FieldReader(std::string_view rest) : rest_(rest) {}

  Result<std::string_view> text();
  Result<std::uint64_t> count(std::uint64_t largest);
  Result<double> amount();       // finite, at least 0
  Result<std::int64_t> whole();  // from 0 to 2^61, so that differences and sums do not overflow
  Result<Time> time();
  bool at_end() const;

 private:
  std::string_view rest_;
};

inline constexpr std::int64_t kLargestWhole = std::int64_t{1} << 61;

// Reads each line. Returns the problems: "line 3: its checksum is wrong", ten at most, then how many more lines.
std::vector<std::string> read_records(std::string_view text,
                                      const std::function<Result<void>(std::string_view line)>& read);

}  // namespace koord
