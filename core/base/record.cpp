// SPDX-License-Identifier: Apache-2.0
#include "core/base/record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/parse.hpp"

namespace koord {
namespace {

constexpr std::size_t kMaxProblems = 10;

// The table of CRC-32 as in Ethernet and zip.
constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xEDB88320u : 0u);
  }
  return table;
}();

// Returns the checksum in eight hexadecimal digits.
std::string checksum(std::string_view text) {
  std::uint32_t crc = ~0u;
  for (char c : text) crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", ~crc);
  return digits;
}

template <class Number>
std::string shortest(Number number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace

bool can_be_a_field(std::string_view text) {
  return !text.empty() && text.size() <= kMaxFieldBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' '; });
}

std::string sealed_record(int version, std::string_view fields) {
  return std::to_string(version) + " " + checksum(fields) + " " + std::string(fields) + "\n";
}

Result<std::string_view> open_record(int version, std::string_view line) {
  FieldReader head(line);
  const std::string_view found = TRY(head.text()), crc = TRY(head.text());
  if (found != std::to_string(version)) return invalid("it is not of version " + std::to_string(version));
  const std::string_view fields = line.substr(std::min(found.size() + crc.size() + 2, line.size()));
  if (crc != checksum(fields)) return invalid("its checksum is wrong");
  return fields;
}

RecordWriter& RecordWriter::operator<<(std::int64_t number) { return *this << std::string_view(shortest(number)); }
RecordWriter& RecordWriter::operator<<(double number) { return *this << std::string_view(shortest(number)); }
RecordWriter& RecordWriter::operator<<(float number) { return *this << std::string_view(shortest(number)); }
RecordWriter& RecordWriter::operator<<(std::uint64_t number) { return *this << std::string_view(shortest(number)); }

Result<std::string_view> FieldReader::text() {
  if (auto field = next_field(rest_, ' ')) return *field;
  return invalid("it ends too early");
}

Result<std::uint64_t> FieldReader::count(std::uint64_t largest) {
  const std::string_view field = TRY(text());
  const std::uint64_t number = TRY(parse_uint(field));
  if (number > largest) return invalid("a number is larger than it can be");
  return number;
}

Result<double> FieldReader::amount() {
  const std::string_view field = TRY(text());
  const double number = TRY(parse_double(field));
  if (!(number >= 0 && std::isfinite(number))) return invalid("an amount is negative or not a number");
  return number;
}

Result<std::int64_t> FieldReader::whole() { return static_cast<std::int64_t>(TRY(count(kLargestWhole))); }
Result<Time> FieldReader::time() { return Time(Duration(TRY(whole()))); }
bool FieldReader::at_end() const { return trim(rest_).empty(); }

std::vector<std::string> read_records(std::string_view text,
                                      const std::function<Result<void>(std::string_view line)>& read) {
  std::vector<std::string> problems;
  std::size_t number = 0, more = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    auto taken = read(line);
    if (taken) continue;
    if (problems.size() < kMaxProblems)
      problems.push_back("line " + std::to_string(number) + ": " + taken.error().message());
    else
      ++more;
  }
  if (more > 0) problems.push_back("and " + std::to_string(more) + " more lines");
  return problems;
}

}  // namespace koord
