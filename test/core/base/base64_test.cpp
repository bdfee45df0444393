// SPDX-License-Identifier: Apache-2.0
#include "core/base/base64.hpp"

#include <doctest/doctest.h>

using koord::decode_base64;

TEST_CASE("base64 is decoded, line breaks and spaces are skipped") {
  struct Row {
    const char *text, *bytes;
  };
  for (const Row& row : {Row{"", ""}, Row{"Zg==", "f"}, Row{"Zm8=", "fo"}, Row{"Zm9v", "foo"},
                         Row{"Zm9v\nYmFy ", "foobar"}, Row{"\r\n\tZ g = =", "f"}, Row{"+/+/", "\xfb\xff\xbf"}})
    CHECK_MESSAGE(decode_base64(row.text) == row.bytes, row.text);
  CHECK(decode_base64("AAAA") == std::string(3, '\0'));
}

TEST_CASE("base64 with a wrong length, padding or character is refused") {
  for (const char* wrong : {"Zg", "Zg=", "=", "Z===", "====", "Zg==Zg==", "Zm9*", "Zm9v-", "Zm9_", "Z\xc3\xa4=="})
    CHECK_FALSE_MESSAGE(decode_base64(wrong), wrong);
}
