// SPDX-License-Identifier: Apache-2.0
// Runs rows of koordlet's own test tables on this code. A row has the answers of koordlet and of this code. Where they
// differ, the row names the README that documents the difference and quotes some of its words; the check fails if the
// README no longer has them. Header-only.
#pragma once

#include <doctest/doctest.h>

#include <cctype>
#include <string>
#include <string_view>

#include "core/base/file.hpp"

namespace koord::test {

// A sentence in a file below plugins/. Empty: both answers are equal.
struct Difference {
  std::string_view file, words;
};

// Returns the text with each run of white space as one blank, because a README wraps its lines.
inline std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(letter)) != 0;
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : letter;
  }
  return line;
}

inline bool is_documented(const Difference& difference) {
  const auto text = read_file(std::string(KOORD_PLUGIN_SOURCES) + "/" + std::string(difference.file));
  return text && on_one_line(*text).find(on_one_line(difference.words)) != std::string::npos;
}

// The answers of one row: koordlet's answer, and the answer of this code.
template <class Value>
struct Expected {
  Value koordlet, here;
  Difference difference = {};

  Expected(Value both)
      : koordlet(both), here(std::move(both)) {}  // NOLINT: a row with equal answers is written as one value
  Expected(Value theirs, Value ours, Difference documented)
      : koordlet(std::move(theirs)), here(std::move(ours)), difference(documented) {}
};

template <class Value>
void check_row(const char* name, const Value& answer, const Expected<Value>& expected) {
  INFO("row: " << name);
  CHECK(answer == expected.here);
  if (expected.here != expected.koordlet) {
    INFO("plugins/" << expected.difference.file << " does not say: " << expected.difference.words);
    CHECK(is_documented(expected.difference));
  }
}

}  // namespace koord::test
