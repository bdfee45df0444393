// SPDX-License-Identifier: Apache-2.0
// Rows of koordlet's own tables, put to this tree. Both answers stand in a row. Where they differ the row names the
// README that documents the difference and some of its words; the check fails when the README does not have them any
// more. Header-only.
#pragma once

#include <doctest/doctest.h>

#include <cctype>
#include <string>
#include <string_view>

#include "core/base/file.hpp"

namespace koord::test {

// A sentence of a file below plugins/. Empty: both give the same answer.
struct Difference {
  std::string_view file, words;
};

// Runs of white space as one blank: a README wraps its lines.
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

// One row: koordlet's answer, and that of this tree.
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
