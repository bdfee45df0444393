// SPDX-License-Identifier: Apache-2.0
// Extraction: the wanted values out of a kernel file's text, in one pass and without allocation. It belongs
// to one kind of kernel file and is used by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/cgroup/files.hpp"

namespace koord::cgroup {

// "max" is -1; a number too large is the largest int64; anything else is kAbsent.
std::int64_t parse_value(std::string_view text);

// cgroup v1 shows "no limit" of memory as the largest count of pages. The smallest of these, that of pages of 64 KiB;
// no machine has that much memory.
inline constexpr std::int64_t kNoLimitOfV1 = 0x7FFFFFFFFFFF0000;

std::int64_t convert(std::int64_t value, Conversion conversion);

class Extraction {
 public:
  explicit Extraction(Format format) : format_(format) {}

  // The value of the spec's key will go to values[slot]. The spec's texts must outlive this.
  void add(const KeySpec& spec, std::size_t slot);

  // Writes every slot added: the value, or kAbsent.
  void apply(std::string_view text, std::span<std::int64_t> values);

 private:
  struct Wanted {
    std::string_view line;         // the first word of the line, or the key itself (flat)
    std::string_view word;         // the name within the line
    std::int64_t found = kAbsent;  // in this text (assignments only)
    std::uint32_t slot = 0;
    std::uint16_t position = 0;
    bool addend = false;  // is added to the slot's value so far (numa)
    Conversion conversion : 8 = Conversion::none;
  };
  void from_words(std::string_view text, std::span<std::int64_t> values) const;
  void from_flat(std::string_view text, std::span<std::int64_t> values);
  void from_assignments(std::string_view text, std::span<std::int64_t> values);
  void from_assignment(std::string_view line_name, std::string_view word);

  Format format_;
  std::vector<Wanted> wanted_;
};

}  // namespace koord::cgroup
