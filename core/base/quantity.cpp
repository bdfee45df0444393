// SPDX-License-Identifier: Apache-2.0
#include "core/base/quantity.hpp"

#include <array>
#include <limits>
#include <string>

#include "core/base/parse.hpp"

namespace koord {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMaxUnits = std::numeric_limits<std::int64_t>::max();
constexpr Wide kNanosPerUnit = 1'000'000'000;
constexpr Wide kNanosPerMilli = 1'000'000;
constexpr Wide kMaxNanos = Wide{kMaxUnits} * kNanosPerUnit;
// Further digits have no effect on the result.
constexpr Wide kMaxDigits = Wide{1} << 100;

struct Suffix {
  std::string_view name;
  int power;    // exponent of 10
  int doubled;  // exponent of 1024
};
constexpr std::array<Suffix, 16> kSuffixes{{{"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"", 0, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 1},
                                            {"Mi", 0, 2},
                                            {"Gi", 0, 3},
                                            {"Ti", 0, 4},
                                            {"Pi", 0, 5},
                                            {"Ei", 0, 6}}};

// A number: digits · 10^power · 1024^doubled.
struct Decimal {
  Wide digits = 0;
  int power = 0;
  int doubled = 0;
  bool negative = false;
};

Error bad(std::string_view text) {
  return invalid("'" + std::string(text.substr(0, 64)) + "' is not a quantity such as '100m', '1.5Gi' or '2'");
}

Error too_large(std::string_view text) {
  return invalid("quantity '" + std::string(text.substr(0, 64)) + "' is out of range");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits from the front of `rest`, and sets the digits and the power of ten.
bool take_digits(std::string_view& rest, Decimal& number) {
  bool any = false, point = false;
  for (; !rest.empty(); rest.remove_prefix(1)) {
    char c = rest.front();
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    bool full = number.digits > kMaxDigits / 10;
    if (!full) number.digits = number.digits * 10 + (c - '0');
    // An excess digit after the point is too small to matter, but makes the result round up. Before the point it counts
    // as a zero.
    if (full && point && c != '0') number.digits |= 1;
    if (!full && point) --number.power;
    if (full && !point) ++number.power;
  }
  return any;
}

bool take_suffix(std::string_view rest, Decimal& number) {
  for (const Suffix& suffix : kSuffixes) {
    if (rest != suffix.name) continue;
    number.power += suffix.power;
    number.doubled = suffix.doubled;
    return true;
  }
  if (rest.size() < 2 || (rest.front() != 'e' && rest.front() != 'E')) return false;
  rest.remove_prefix(1);
  if (rest.front() == '+') rest.remove_prefix(1);
  Result<std::int64_t> exponent = parse_int(rest);
  if (!exponent || *exponent > 1000 || *exponent < -1000) return false;
  number.power += static_cast<int>(*exponent);
  return true;
}

// Formats the value. Divides by `factor` as long as the result is exact and a larger suffix exists.
template <std::size_t N>
std::string with_suffix(std::int64_t value, std::int64_t factor, const std::array<std::string_view, N>& suffixes) {
  std::size_t suffix = 0;
  for (; suffix + 1 < N && value != 0 && value % factor == 0; ++suffix) value /= factor;
  return std::to_string(value).append(value == 0 ? "" : suffixes[suffix]);
}

// Returns the number in billionths, rounded up; more than kMaxNanos if it is out of range.
Wide to_nanos(const Decimal& number) {
  Wide nanos = number.digits;
  int power = number.power + 9;
  bool rest = false;
  auto drop_digit = [&] {
    rest = rest || nanos % 10 != 0;
    nanos /= 10;
    ++power;
  };
  while (number.doubled > 0 && power < 0 && nanos > kMaxUnits) drop_digit();  // avoids an overflow by 1024^6
  for (int i = 0; i < number.doubled; ++i) {
    if (power >= 0 && nanos > kMaxNanos) return nanos;
    nanos *= 1024;
  }
  while (power < 0 && nanos != 0) drop_digit();
  for (; power > 0 && nanos != 0 && nanos <= kMaxNanos; --power) nanos *= 10;
  return nanos + (rest ? 1 : 0);
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  Decimal number;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    number.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (!take_digits(rest, number) || !take_suffix(rest, number)) return bad(text);
  Wide nanos = to_nanos(number);
  if (nanos > kMaxNanos) return too_large(text);
  Quantity quantity;
  quantity.nanos_ = number.negative ? -nanos : nanos;
  return quantity;
}

std::int64_t Quantity::value() const { return in_units_of(kNanosPerUnit); }

std::int64_t Quantity::milli() const { return in_units_of(kNanosPerMilli); }

// Rounds away from zero, as Kubernetes does.
std::int64_t Quantity::in_units_of(Wide nanos) const {
  Wide size = nanos_ < 0 ? -nanos_ : nanos_;
  Wide units = (size + nanos - 1) / nanos;
  if (units > kMaxUnits) units = kMaxUnits;
  return static_cast<std::int64_t>(nanos_ < 0 ? -units : units);
}

std::string format_decimal(std::int64_t value) {
  constexpr std::array<std::string_view, 7> kWhole{"", "k", "M", "G", "T", "P", "E"};
  return with_suffix(value, 1000, kWhole);
}

std::string format_decimal_milli(std::int64_t milli) {
  constexpr std::array<std::string_view, 7> kMilli{"m", "", "k", "M", "G", "T", "P"};
  return with_suffix(milli, 1000, kMilli);
}

std::string format_binary(std::int64_t value) {
  if (value > -1024 && value < 1024) return format_decimal(value);
  constexpr std::array<std::string_view, 7> kBinary{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  return with_suffix(value, 1024, kBinary);
}

}  // namespace koord
