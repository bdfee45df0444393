// SPDX-License-Identifier: Apache-2.0
#include "core/store/simple8b.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace koord::store {
namespace {

constexpr unsigned kZeros = 0;
constexpr unsigned kEscape = 15;
constexpr unsigned kSelectorShift = 60;
constexpr std::uint64_t kPayload = (std::uint64_t{1} << kSelectorShift) - 1;

struct Division {
  std::uint8_t count;
  std::uint8_t bits;
};
constexpr std::array<Division, 16> kDivisions{{{0, 0},
                                               {60, 1},
                                               {30, 2},
                                               {20, 3},
                                               {15, 4},
                                               {12, 5},
                                               {10, 6},
                                               {8, 7},
                                               {7, 8},
                                               {6, 10},
                                               {5, 12},
                                               {4, 15},
                                               {3, 20},
                                               {2, 30},
                                               {1, 60},
                                               {1, 64}}};

// The selector for each number of bits. Its values are the narrowest that have at least that many bits.
constexpr auto kSelectorOfBits = [] {
  std::array<std::uint8_t, 65> selectors{};
  unsigned selector = 1;
  for (unsigned bits = 0; bits <= 64; ++bits) {
    while (kDivisions[selector].bits < bits) ++selector;
    selectors[bits] = static_cast<std::uint8_t>(selector);
  }
  return selectors;
}();

std::size_t leading_zeros(std::span<const std::uint64_t> values) {
  auto end = std::find_if(values.begin(), values.end(), [](std::uint64_t v) { return v != 0; });
  return static_cast<std::size_t>(end - values.begin());
}

// Returns the selector of the next word. Widens the values until they hold all values of the word, so each value is
// read about once per word.
unsigned select(std::span<const std::uint64_t> values) {
  unsigned selector = 1;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < values.size() && i < kDivisions[selector].count; ++i) {
    seen |= values[i];
    selector = std::max<unsigned>(selector, kSelectorOfBits[static_cast<std::size_t>(std::bit_width(seen))]);
  }
  return selector;
}

std::uint64_t pack(std::span<const std::uint64_t> values, unsigned selector) {
  std::uint64_t word = std::uint64_t{selector} << kSelectorShift;
  unsigned shift = 0;
  for (std::uint64_t value : values) {
    word |= value << shift;
    shift += kDivisions[selector].bits;
  }
  return word;
}

void unpack(std::uint64_t word, Division division, std::span<std::uint64_t> values) {
  std::uint64_t mask = (std::uint64_t{1} << division.bits) - 1;
  for (std::uint64_t& value : values) {
    value = word & mask;
    word >>= division.bits;
  }
}

}  // namespace

void simple8b_encode(std::span<const std::uint64_t> values, std::string& out) {
  while (!values.empty()) {
    unsigned selector = select(values);
    std::size_t count = std::min<std::size_t>(values.size(), kDivisions[selector].count);
    std::size_t zeros = leading_zeros(values);
    if (zeros >= count) {
      count = zeros;
      append_word(out, std::uint64_t{zeros});
    } else if (selector == kEscape) {
      append_word(out, std::uint64_t{kEscape} << kSelectorShift);
      append_word(out, values[0]);
    } else {
      append_word(out, pack(values.first(count), selector));
    }
    values = values.subspan(count);
  }
}

bool simple8b_decode(ByteReader& in, std::span<std::uint64_t> values) {
  while (!values.empty()) {
    std::uint64_t word = in.word();
    if (in.failed()) return false;
    unsigned selector = static_cast<unsigned>(word >> kSelectorShift);
    std::size_t count = std::min<std::size_t>(values.size(), kDivisions[selector].count);
    if (selector == kZeros) {
      count = static_cast<std::size_t>(word);
      if (count == 0 || count > values.size()) return false;
      std::fill_n(values.begin(), count, 0);
    } else if (selector == kEscape) {
      values[0] = in.word();
      if (in.failed()) return false;
    } else {
      unpack(word & kPayload, kDivisions[selector], values.first(count));
    }
    values = values.subspan(count);
  }
  return true;
}

}  // namespace koord::store
