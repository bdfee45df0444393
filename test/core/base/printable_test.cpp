// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.hpp"

#include <doctest/doctest.h>

using namespace koord;

TEST_CASE("control characters are escaped, and everything else stays") {
  CHECK(printable("") == "");
  CHECK(printable("a 'b' \"c\" \\ ä €") == "a 'b' \"c\" \\ ä €");
  CHECK(printable("a\nb\r\tc") == "a\\nb\\r\\tc");
  CHECK(printable("\x1b[31m\x7f") == "\\x1b[31m\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b"
                  "1m") == "\\u009b1m");
  CHECK(printable("\x9b\xff") == "??");
}

TEST_CASE("a long text is cut between characters, and the cut is shown") {
  CHECK(printable("abcd", 4) == "abcd");
  CHECK(printable("abcde", 4) == "abcd…");
  CHECK(printable(std::string(100'000, 'x')) == std::string(256, 'x') + "…");
  CHECK(printable("ab€", 4) == "ab…");
  CHECK(printable("ab€cdefgh", 4) == "ab…");
  CHECK(printable("€€", 6) == "€€");
  CHECK(printable("abc\n", 4) == "abc…");
  CHECK(printable("ab\n", 4) == "ab\\n");
}
