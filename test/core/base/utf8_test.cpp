// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <doctest/doctest.h>

using koord::is_valid_utf8;

TEST_CASE("ASCII and every length of UTF-8 sequence are valid, wherever they stand") {
  for (const char* text : {"", "a", "seven b", "exactly8", "nine chars", "gr\xC3\xBC\xC3\x9F",
                           "a long way to \xE2\x82\xAC", "\xF0\x9F\x98\x80"})
    CHECK_MESSAGE(is_valid_utf8(text), text);
}

TEST_CASE("text that is not UTF-8 is found at any place") {
  for (const char* text : {"\xFF", "12345678\xFF", "1234567\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"})
    CHECK_FALSE_MESSAGE(is_valid_utf8(text), text);
}

TEST_CASE("a character has one to four bytes, an invalid one has none") {
  struct Row {
    const char* text;
    std::size_t length;
  };
  for (const Row& row : {Row{"a\xFF", 1}, Row{"\xC3\xA4z", 2}, Row{"\xE2\x82\xAC", 3}, Row{"\xF0\x9F\x98\x80", 4},
                         Row{"\xC3", 0}, Row{"\x80", 0}, Row{"\xC1\xBF", 0}, Row{"\xE2\x82z", 0},
                         Row{"\xF0\x80\x80\x80", 0}, Row{"\xF5\x80\x80\x80", 0}})
    CHECK_MESSAGE(koord::utf8_length(row.text) == row.length, row.text);
}

TEST_CASE("characters are counted and cut, whatever their bytes") {
  const auto cut = [](std::string text, std::size_t characters) {
    return koord::cut_utf8_characters(text, characters), text;
  };
  CHECK(koord::utf8_count("") == 0);
  CHECK(koord::utf8_count("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") == 4);
  CHECK(cut("a\xC3\xA4\xE2\x82\xAC", 2) == "a\xC3\xA4");
  CHECK(cut("a\xC3\xA4\xE2\x82\xAC", 3) == "a\xC3\xA4\xE2\x82\xAC");
  CHECK(cut("abc", 0) == "");
}

TEST_CASE("only invalid text loses its non-ASCII bytes") {
  const auto replaced = [](std::string text) { return koord::replace_invalid_utf8(text), text; };
  CHECK(replaced("a\xC3\xA4\n") == "a\xC3\xA4\n");
  CHECK(replaced("a\xC3\xA4\xFFz") == "a???z");
}

TEST_CASE("control characters of one byte and of two are replaced, each by one character") {
  const auto replaced = [](std::string text, std::string_view kept = {}) {
    return koord::replace_control_characters(text, kept), text;
  };
  CHECK(replaced("a\x1b[2Jb\x7f\n") == "a?[2Jb??");
  CHECK(replaced("\xC2\x80-\xC2\x9B"
                 "2J\xC2\x9F") == "?-?2J?");
  CHECK(replaced("\xC2\xA0\xC3\x9B\xE2\x80\x94") == "\xC2\xA0\xC3\x9B\xE2\x80\x94");
  CHECK(replaced("a\nb\t\xC2\x85", "\n") == "a\nb??");
  CHECK(replaced("a\x9B"
                 "2J\xC2") == "a?2J?");
  CHECK(replaced("") == "");
}

TEST_CASE("a text is cut between two characters, never in one") {
  const auto cut = [](std::string text, std::size_t bytes) { return koord::cut_utf8(text, bytes), text; };
  CHECK(cut("abc", 3) == "abc");
  CHECK(cut("abc", 2) == "ab");
  CHECK(cut("a\xc3\xa4", 2) == "a");
  CHECK(cut("\xf0\x9f\x98\x80!", 4) == "\xf0\x9f\x98\x80");
  CHECK(cut("\xf0\x9f\x98\x80", 3) == "");
}
