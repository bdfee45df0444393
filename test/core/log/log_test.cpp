// SPDX-License-Identifier: Apache-2.0
#include "core/log/log.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <thread>

#include "core/log/capture.hpp"

using namespace koord;

namespace {

constexpr log::Category test_log{"test"};

std::string only_line(const log::Capture& capture) {
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 1);
  return lines.front();
}

std::string behind_time(std::string line) { return line.substr(line.find(' ') + 1); }

}  // namespace

TEST_CASE("a text line is time in UTC, level, category and text") {
  log::Capture capture;
  log::warn(test_log, "cannot read '{}', keeping the last value", "cpu.max");
  CHECK(std::regex_match(only_line(capture), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN  test: )"
                                                        R"(cannot read 'cpu\.max', keeping the last value)")));
}

TEST_CASE("the levels stand in five columns") {
  log::Capture capture;
  log::debug(test_log, "a");
  log::info(test_log, "b");
  log::error(test_log, "c");
  REQUIRE(capture.lines().size() == 3);
  CHECK(behind_time(capture.lines()[0]) == "DEBUG test: a");
  CHECK(behind_time(capture.lines()[1]) == "INFO  test: b");
  CHECK(behind_time(capture.lines()[2]) == "ERROR test: c");
}

TEST_CASE("a JSON line has the fields time, level, category and message") {
  log::Capture capture(log::Level::info, log::Format::json);
  log::info(test_log, "three is {}", 3);
  CHECK(std::regex_match(
      only_line(capture),
      std::regex(
          R"re(\{"time":"[-0-9]{10}T[:.0-9]{12}Z","level":"info","category":"test","message":"three is 3"\})re")));
}

TEST_CASE("a text entry stays one line whatever it holds") {
  log::Capture capture;
  log::write(test_log, log::Level::info,
             "a\nb\r\tc\x1b[31m\x7f\xc2\x9b"
             "0m\xc3\xa4");
  CHECK(behind_time(only_line(capture)) == R"(INFO  test: a\nb\r\tc\x1b[31m\x7f\u009b0mä)");
}

TEST_CASE("a JSON message escapes quotes, backslashes and control characters") {
  log::Capture capture(log::Level::info, log::Format::json);
  log::write(test_log, log::Level::info, "\"a\\\n\x01\x7f\xc2\x9b");
  CHECK(only_line(capture).ends_with(R"("message":"\"a\\\n\u0001\u007f\u009b"})"));
}

TEST_CASE("a JSON message keeps UTF-8 and replaces what is not") {
  struct Row {
    std::string_view text, expected;
  };
  for (const Row& row : {Row{"\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"},
                         Row{"a\xFFz", "a\xEF\xBF\xBDz"}, Row{"\xC3", "\xEF\xBF\xBD"},
                         Row{"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                     // overlong
                         Row{"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}}) {  // surrogate
    log::Capture capture(log::Level::info, log::Format::json);
    log::write(test_log, log::Level::info, row.text);
    CHECK(only_line(capture).ends_with("\"message\":\"" + std::string(row.expected) + "\"}"));
  }
}

TEST_CASE("a line below the level is neither formatted nor written") {
  log::Capture capture(log::Level::warn);
  log::info(test_log, "quiet");
  log::write(test_log, log::Level::debug, "quiet");
  CHECK(capture.lines().empty());
  CHECK_FALSE(log::enabled(log::Level::info));
  CHECK(log::enabled(log::Level::warn));
}

TEST_CASE("set_up changes the level and the format of what follows") {
  log::Capture capture(log::Level::info, log::Format::text);
  log::set_up(log::Level::debug, log::Format::json);
  log::debug(test_log, "now seen");
  CHECK(only_line(capture).starts_with("{"));
}

TEST_CASE("a capture restores the level it found") {
  log::Capture outer(log::Level::error);
  { log::Capture inner(log::Level::trace); }
  CHECK_FALSE(log::enabled(log::Level::warn));
}

TEST_CASE("lines of several threads do not mix") {
  log::Capture capture;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int n = 0; n < 100; ++n) log::info(test_log, "{:-<200}", "x");
      });
  }
  const std::string expected = "INFO  test: x" + std::string(199, '-');
  const std::vector<std::string> lines = capture.lines();
  CHECK(lines.size() == 400);
  for (const std::string& line : lines) REQUIRE(behind_time(line) == expected);
}

TEST_CASE("a level and a format read back as they are written") {
  for (const char* name : {"trace", "debug", "info", "warn", "error"})
    CHECK(to_string(*log::parse_level(name)) == name);
  for (const char* name : {"text", "json"}) CHECK(to_string(*log::parse_format(name)) == name);
}

TEST_CASE("an unknown level is an error that names the levels") {
  CHECK(log::parse_level("INFO").error().message() == "'INFO' is not a log level (trace, debug, info, warn, error)");
  CHECK(log::parse_format("xml").error().message() == "'xml' is not a log format (text, json)");
}
