// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/parser.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace koord;
using namespace koord::exposition;

namespace {

// Returns a parsed sample: name{label=value,…} value [@timestamp].
std::string shown(const Parser& parser) {
  std::string text(parser.name());
  for (const Label& label : parser.labels()) text += "|" + std::string(label.name) + "=" + std::string(label.value);
  char number[64];
  std::snprintf(number, sizeof number, " %.10g", parser.value());
  text += number;
  if (parser.timestamp_seconds()) {
    std::snprintf(number, sizeof number, " @%.10g", *parser.timestamp_seconds());
    text += number;
  }
  return text;
}

// Returns all parts of a text, one string for each part. An error is the last string.
std::vector<std::string> all(const std::string& text, Syntax syntax = Syntax::text, Limits limits = {}) {
  Parser parser(text, syntax, limits);
  std::vector<std::string> entries;
  for (;;) {
    Result<Entry> entry = parser.next();
    if (!entry) {
      entries.push_back(entry.error().message());
      return entries;
    }
    std::string name(parser.name());
    if (*entry == Entry::end) return entries;
    if (*entry == Entry::type)
      entries.push_back("type " + name + " " + std::to_string(static_cast<int>(parser.type())));
    if (*entry == Entry::help) entries.push_back("help " + name + ": " + std::string(parser.help()));
    if (*entry == Entry::unit) entries.push_back("unit " + name + ": " + std::string(parser.unit()));
    if (*entry == Entry::sample) entries.push_back(shown(parser));
  }
}

std::string first(const std::string& text, Syntax syntax = Syntax::text) { return all(text, syntax).at(0); }
std::string om(const std::string& line) { return all(line + "\n# EOF\n", Syntax::open_metrics).at(0); }
std::string type_line(const std::string& name, Type type) {
  return "type " + name + " " + std::to_string(static_cast<int>(type));
}

}  // namespace

TEST_CASE("text: a sample is a name, labels if it has any, a value, perhaps a timestamp in milliseconds") {
  CHECK(first("up 1\n") == "up 1");
  CHECK(first("up{} 1\n") == "up 1");
  CHECK(first("a:b_c9{x=\"1\",y_2=\"two\"} 3.5\n") == "a:b_c9|x=1|y_2=two 3.5");
  CHECK(first("up 1 1700000000500\n") == "up 1 @1700000000");
  CHECK(first("up 1 -1000\n") == "up 1 @-1");
}

TEST_CASE("text: blanks and tabs may stand between the parts, and a comma behind the last label") {
  CHECK(first(" \tup\t{ a = \"1\" , b=\"2\" , } \t 1  5000 \n") == "up|a=1|b=2 1 @5");
  CHECK(first("up{a=\"1\"}2\n") == "up|a=1 2");
  CHECK(all("\n \t\n# a comment\n#\n#x\nup 1\n") == std::vector<std::string>{"up 1"});
}

TEST_CASE("text: help and type are parsed, escapes are decoded") {
  CHECK(all("# HELP x  two\\nlines, a \\\\ and a \\\"\n# TYPE x counter\n") ==
        std::vector<std::string>{"help x: two\nlines, a \\ and a \\\"", type_line("x", Type::counter)});
  CHECK(first("# HELP x\n") == "help x: ");
  CHECK(first("# TYPE x untyped \n") == type_line("x", Type::unknown));
  CHECK(first("x{a=\"q\\\"b\\\\n\\nl\",b=\"\\x\"} 1\n") == "x|a=q\"b\\n\nl|b=\\x 1");
}

TEST_CASE("a value is any number of a double") {
  CHECK(first("x 1e3\n") == "x 1000");
  CHECK(first("x .5\n") == "x 0.5");
  CHECK(first("x -0.25E-1\n") == "x -0.025");
  CHECK(first("x +7\n") == "x 7");
  CHECK(first("x +Inf\n") == "x inf");
  CHECK(first("x -inf\n") == "x -inf");
  CHECK(first("x NaN\n") == "x nan");
  CHECK(first("x 1e-400\n") == "x 0");
  for (const char* bad : {"x 1e400", "x abc", "x 1,5", "x 0x10", "x +-1", "x nan(1)", "x +", "x 1_000"})
    CHECK_MESSAGE(
        first(std::string(bad) + "\n").find("expected a value: a number, NaN, +Inf or -Inf") != std::string::npos, bad);
}

TEST_CASE("text: an error names the line, what was found and what was expected") {
  CHECK(all("up 1\nup{a=\"1\" 2\n").at(1) == "line 2: found '2', expected ',' or '}' behind a label");
  CHECK(first("9up 1\n") == "line 1: found '9up 1', expected the name of a metric, as [a-zA-Z_:][a-zA-Z0-9_:]*");
  CHECK(first("up\n") == "line 1: found the end of the line, expected a space before the value");
  CHECK(first("up{9=\"1\"} 1\n") ==
        "line 1: found '9=\"1\"} 1', expected the name of a label, as [a-zA-Z_][a-zA-Z0-9_]*");
  CHECK(first("up{a:b=\"1\"} 1\n") == "line 1: found ':b=\"1\"} 1', expected '=' behind the name of a label");
  CHECK(first("up{a=1} 1\n") == "line 1: found '1} 1', expected a label's value in quotes");
  CHECK(first("up{a=\"1} 1\n") == "line 1: found '\"1} 1', expected a '\"' at the end of the label's value");
  CHECK(first("up{a=\"1\\\n") == "line 1: found '\"1\\', expected a '\"' at the end of the label's value");
  CHECK(first("up{a=\"1\",a=\"2\"} 1\n") == "line 1: found 'a=\"2\"} 1', expected no second label 'a'");
  CHECK(first("up 1 2.5\n") ==
        "line 1: found '2.5', expected a timestamp in whole milliseconds, or the end of the line");
  CHECK(first("up 1 2 3\n") == "line 1: found '3', expected nothing behind the timestamp");
  CHECK(
      first("# TYPE up meter\n") ==
      "line 1: found 'meter', expected a type: counter, gauge, histogram, summary, untyped, or one more of OpenMetrics");
  CHECK(first("# TYPE up gauge x\n") == "line 1: found 'x', expected nothing behind the type");
  CHECK(first("<html>\n").starts_with("line 1: found '<html>', expected the name of a metric"));
}

TEST_CASE("a text that was cut off is an error, also where half a number is one") {
  CHECK(all("up 1\nup 12").at(1) == "line 2: found no line feed at its end, expected one: the text is cut off");
  CHECK(all("a 1\n", Syntax::open_metrics).at(1) == "line 2: found the end of the text, expected '# EOF' before it");
}

TEST_CASE("bytes that are not UTF-8 are an error, and control characters are not shown") {
  CHECK(first("up{a=\"gr\xC3\xBC\xC3\x9F\"} 1\n") == "up|a=gr\xC3\xBC\xC3\x9F 1");
  CHECK(first("up{a=\"\xFF\"} 1\n") == "line 1: found bytes that are not UTF-8, expected text");
  CHECK(first("up \x1B[2J\n") == "line 1: found '?[2J', expected a value: a number, NaN, +Inf or -Inf");
}

TEST_CASE("a line and its labels are bounded") {
  CHECK(all("x 1\nabcdefgh 1\n", Syntax::text, {.line_bytes = 8}).at(1) ==
        "line 2: found more than 8 bytes without a line feed, expected at most those");
  CHECK(all("x{a=\"\",b=\"\",c=\"\"} 1\n", Syntax::text, {.labels = 2}).at(0) ==
        "line 1: found 'c=\"\"} 1', expected at most 2 labels");
}

TEST_CASE("after an error the parser returns nothing more") {
  Parser parser("bad\nup 1\n", Syntax::text);
  REQUIRE_FALSE(parser.next());
  CHECK(parser.next().value() == Entry::end);
}

TEST_CASE("a sample's series is its name and labels as they are written") {
  Parser parser("up {a=\"\\n\"} 1 5\n", Syntax::text);
  REQUIRE(parser.next());
  CHECK(parser.series() == "up {a=\"\\n\"}");
  CHECK(parser.line() == 1);
}

TEST_CASE("OpenMetrics: types, units and helps are parsed, and the last line is '# EOF'") {
  CHECK(
      all("# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds \\\"quoted\\\"\na_seconds_total 1\n# EOF",
          Syntax::open_metrics) == std::vector<std::string>{type_line("a_seconds", Type::counter),
                                                            "unit a_seconds: seconds", "help a_seconds: \"quoted\"",
                                                            "a_seconds_total 1"});
  CHECK(om("# TYPE a stateset") == type_line("a", Type::state_set));
  CHECK(om("# TYPE a gaugehistogram") == type_line("a", Type::gauge_histogram));
  CHECK(om("# UNIT a_seconds bytes") == "line 1: found 'bytes', expected the unit that 'a_seconds' ends in");
  CHECK(all("a 1\n# EOF\nb 1\n", Syntax::open_metrics).at(1) == "line 3: found more behind '# EOF', expected nothing");
  CHECK(om("# a comment") == "line 1: found '# a comment', expected '# ' and HELP, TYPE, UNIT or EOF");
}

TEST_CASE("OpenMetrics: a timestamp is in seconds, an exemplar is checked and left out") {
  CHECK(om("a 1 1700000000.5") == "a 1 @1700000000");
  CHECK(om("a_bucket{le=\"1\"} 5 # {trace_id=\"x\\n\"} 0.3 1700000000.2") == "a_bucket|le=1 5");
  CHECK(om("a_bucket{le=\"\\n\"} 5 9 # {a=\"\\\\\"} 0.3") == "a_bucket|le=\n 5 @9");
  CHECK(om("a 1 # {} 1") == "a 1");
  CHECK(om("a 1 #") == "line 1: found the end of the line, expected a space before an exemplar's labels");
  CHECK(om("a 1 # {x=\"1\"} y") == "line 1: found 'y', expected an exemplar's value");
  CHECK(om("a 1 2 x") == "line 1: found 'x', expected an exemplar, '# {', or the end of the line");
}

TEST_CASE("OpenMetrics: one space, no empty lines, no comma behind the last label") {
  CHECK(om("a  1") == "line 1: found ' 1', expected a value: a number, NaN, +Inf or -Inf");
  CHECK(om("") == "line 1: found the end of the line, expected the name of a metric, as [a-zA-Z_:][a-zA-Z0-9_:]*");
  CHECK(om("a{b=\"1\",} 1") == "line 1: found '} 1', expected the name of a label, as [a-zA-Z_][a-zA-Z0-9_]*");
  CHECK(om("a{b=\"1\"}1") == "line 1: found '1', expected a space before the value");
}

TEST_CASE("the syntax follows from the content type") {
  CHECK(syntax_of("application/openmetrics-text; version=1.0.0; charset=utf-8") == Syntax::open_metrics);
  CHECK(syntax_of("Application/OpenMetrics-Text") == Syntax::open_metrics);
  CHECK(syntax_of("text/plain; version=0.0.4") == Syntax::text);
  CHECK(syntax_of("") == Syntax::text);
}
