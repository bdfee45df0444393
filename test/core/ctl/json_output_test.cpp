// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/json_output.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace koord::ctl;

namespace {

std::string written(const std::string& text) {
  std::ostringstream to;
  JsonOutput output(to);
  std::ostream(&output) << text << std::flush;
  return to.str();
}

}  // namespace

TEST_CASE("JSON output escapes control characters that JSON allows") {
  CHECK(written("{\"a\":\"\xc2\x9b"
                "31m\x7f\"}\n") == "{\"a\":\"\\u009b31m\\u007f\"}\n");
  CHECK(written("\xc2\x80\xc2\x9f") == "\\u0080\\u009f");
}

TEST_CASE("JSON output keeps all other text") {
  CHECK(written("[1, \"\xc2\xa0 \xc3\xa9 \xe2\x82\xac\"]\n") == "[1, \"\xc2\xa0 \xc3\xa9 \xe2\x82\xac\"]\n");
  CHECK(written("\xc2\xc2\xa0") == "\xc2\xc2\xa0");
}

TEST_CASE("a character that is written in two parts is escaped, too") {
  std::ostringstream to;
  {
    JsonOutput output(to);
    std::ostream stream(&output);
    stream << "\xc2"
           << "\x9b";
    stream.put('\xc2');
    stream.put('\x85');
    stream << "\xc2";
  }
  CHECK(to.str() == "\\u009b\\u0085\xc2");
}
