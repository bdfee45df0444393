// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <doctest/doctest.h>

using koord::is_valid_utf8;

TEST_CASE("ASCII and every length of UTF-8 sequence are valid, wherever they stand") {
  for (const char* text : {"", "a", "seven b", "exactly8", "nine chars", "gr\xC3\xBC\xC3\x9F", "a long way to \xE2\x82\xAC", "\xF0\x9F\x98\x80"})
    CHECK_MESSAGE(is_valid_utf8(text), text);
}

TEST_CASE("text that is no UTF-8 is found at any place") {
  for (const char* text : {"\xFF", "12345678\xFF", "1234567\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"})
    CHECK_FALSE_MESSAGE(is_valid_utf8(text), text);
}

TEST_CASE("a text is cut between two characters, never in one") {
  const auto cut = [](std::string text, std::size_t bytes) { return koord::cut_utf8(text, bytes), text; };
  CHECK(cut("abc", 3) == "abc");
  CHECK(cut("abc", 2) == "ab");
  CHECK(cut("a\xc3\xa4", 2) == "a");
  CHECK(cut("\xf0\x9f\x98\x80!", 4) == "\xf0\x9f\x98\x80");
  CHECK(cut("\xf0\x9f\x98\x80", 3) == "");
}
