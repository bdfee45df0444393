// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/exposition/number.hpp"

namespace koord::exposition {
namespace {

enum CharClass : std::uint8_t { kNameStart = 1, kNamePart = 2, kLabelStart = 4, kLabelPart = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  auto add = [&](char first, char last, int bits) {
    for (int c = first; c <= last; ++c) classes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(bits);
  };
  add('a', 'z', kNameStart | kNamePart | kLabelStart | kLabelPart);
  add('A', 'Z', kNameStart | kNamePart | kLabelStart | kLabelPart);
  add('_', '_', kNameStart | kNamePart | kLabelStart | kLabelPart);
  add(':', ':', kNameStart | kNamePart);
  add('0', '9', kNamePart | kLabelPart);
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is(char c, CharClass wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

struct TypeName {
  std::string_view name;
  Type type;
};
// Each syntax has its own word for an unknown type. Both words are accepted in both syntaxes.
constexpr TypeName kTypes[] = {
    {"counter", Type::counter}, {"gauge", Type::gauge},        {"histogram", Type::histogram},
    {"summary", Type::summary}, {"untyped", Type::unknown},    {"unknown", Type::unknown},
    {"info", Type::info},       {"stateset", Type::state_set}, {"gaugehistogram", Type::gauge_histogram},
};

}  // namespace

Syntax syntax_of(std::string_view content_type) {
  constexpr std::string_view kOpenMetrics = "application/openmetrics-text";
  return equal_ignoring_case(content_type.substr(0, kOpenMetrics.size()), kOpenMetrics) ? Syntax::open_metrics
                                                                                        : Syntax::text;
}

// The rest of the line.
struct Parser::Cursor {
  const char* at;
  const char* end;

  bool done() const { return at == end; }
  bool sees(char c) const { return at != end && *at == c; }
  std::string_view rest() const { return {at, static_cast<std::size_t>(end - at)}; }
  bool skip(char c) {
    if (!sees(c)) return false;
    ++at;
    return true;
  }
  void skip_blanks() {
    while (at != end && is_blank(*at)) ++at;
  }
  // Returns the text before the next blank.
  std::string_view word() {
    const char* from = at;
    while (at != end && !is_blank(*at)) ++at;
    return {from, static_cast<std::size_t>(at - from)};
  }
};

Parser::Parser(std::string_view text, Syntax syntax, Limits limits) : rest_(text), syntax_(syntax), limits_(limits) {}

Error Parser::error(const Cursor& at, const std::string& expected) const {
  constexpr std::size_t kShown = 40;
  std::string found = at.done() ? "the end of the line" : "'" + std::string(at.rest().substr(0, kShown)) + "'";
  // The excerpt may be cut within a character.
  std::replace_if(
      found.begin(), found.end(), [](char c) { return static_cast<unsigned char>(c) - 0x20u >= 0x5f; }, '?');
  return invalid("line " + std::to_string(line_) + ": found " + found + ", expected " + expected);
}

Result<Entry> Parser::next() {
  while (!rest_.empty()) {
    ++line_;
    const auto* feed = static_cast<const char*>(std::memchr(rest_.data(), '\n', rest_.size()));
    std::string_view line = rest_.substr(0, feed ? static_cast<std::size_t>(feed - rest_.data()) : rest_.size());
    rest_.remove_prefix(feed ? line.size() + 1 : line.size());
    Result<Entry> entry = Entry::end;
    if (ended_)
      entry = invalid("line " + std::to_string(line_) + ": found more behind '# EOF', expected nothing");
    else if (line.size() > limits_.line_bytes)
      entry = invalid("line " + std::to_string(line_) + ": found more than " + std::to_string(limits_.line_bytes) +
                      " bytes without a line feed, expected at most those");
    else if (!feed && !(syntax_ == Syntax::open_metrics && line == "# EOF"))
      entry = invalid("line " + std::to_string(line_) +
                      ": found no line feed at its end, expected one: the text is cut off");
    else if (!is_valid_utf8(line))
      entry = invalid("line " + std::to_string(line_) + ": found bytes that are not UTF-8, expected text");
    else
      entry = parse_line(line);
    if (!entry) {
      rest_ = {};
      ended_ = true;
    }
    if (!entry || *entry != Entry::end) return entry;
  }
  if (syntax_ == Syntax::text || ended_) return Entry::end;
  ended_ = true;
  return invalid("line " + std::to_string(line_ + 1) + ": found the end of the text, expected '# EOF' before it");
}

// Parses one line. Entry::end: the line has no content.
Result<Entry> Parser::parse_line(std::string_view line) {
  Cursor at{line.data(), line.data() + line.size()};
  if (syntax_ == Syntax::text) {
    at.skip_blanks();
    if (at.done()) return Entry::end;
  }
  return at.sees('#') ? parse_comment(at) : parse_sample(at);
}

Result<void> Parser::skip_separator(Cursor& at, const char* before) const {
  if (at.done() || !is_blank(*at.at) || (syntax_ == Syntax::open_metrics && *at.at != ' '))
    return error(at, std::string("a space before ") + before);
  ++at.at;
  if (syntax_ == Syntax::text) at.skip_blanks();
  return {};
}

Result<std::string_view> Parser::parse_name(Cursor& at, const char* expected) const {
  const char* from = at.at;
  if (at.done() || !is(*at.at, kNameStart)) return error(at, expected);
  while (at.at != at.end && is(*at.at, kNamePart)) ++at.at;
  return std::string_view(from, static_cast<std::size_t>(at.at - from));
}

Result<Entry> Parser::parse_comment(Cursor at) {
  const Cursor begin = at;
  at.skip('#');
  if (syntax_ == Syntax::open_metrics) {
    if (!at.skip(' ')) return error(begin, "'# ' and HELP, TYPE, UNIT or EOF");
  } else {
    at.skip_blanks();
  }
  std::string_view keyword = at.word();
  if (keyword == "TYPE") return parse_type(at);
  if (keyword == "HELP") return parse_help(at);
  if (syntax_ == Syntax::text) return Entry::end;
  if (keyword == "UNIT") return parse_unit(at);
  if (keyword == "EOF") return parse_eof(at);
  return error(begin, "'# ' and HELP, TYPE, UNIT or EOF");
}

Result<Entry> Parser::parse_type(Cursor& at) {
  TRY(skip_separator(at, "the name of a metric"));
  name_ = TRY(parse_name(at, "the name of a metric"));
  TRY(skip_separator(at, "a type"));
  Cursor word = at;
  std::string_view name = at.word();
  const auto* known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == name; });
  if (known == std::end(kTypes))
    return error(word, "a type: counter, gauge, histogram, summary, untyped, or one more of OpenMetrics");
  type_ = known->type;
  if (syntax_ == Syntax::text) at.skip_blanks();
  if (!at.done()) return error(at, "nothing behind the type");
  return Entry::type;
}

Result<Entry> Parser::parse_help(Cursor& at) {
  TRY(skip_separator(at, "the name of a metric"));
  name_ = TRY(parse_name(at, "the name of a metric"));
  if (at.done() && syntax_ == Syntax::text) {
    description_ = {};
    return Entry::help;
  }
  TRY(skip_separator(at, "the help"));
  unescaped_.clear();
  unescaped_.reserve(at.rest().size());
  description_ = TRY(unescape(at.rest(), syntax_ == Syntax::open_metrics));
  return Entry::help;
}

Result<Entry> Parser::parse_unit(Cursor& at) {
  TRY(skip_separator(at, "the name of a metric"));
  name_ = TRY(parse_name(at, "the name of a metric"));
  TRY(skip_separator(at, "the unit"));
  description_ = at.rest();
  bool named = name_.size() > description_.size() && name_.ends_with(description_) &&
               name_[name_.size() - description_.size() - 1] == '_';
  if (!description_.empty() && !named) return error(at, "the unit that '" + std::string(name_) + "' ends in");
  return Entry::unit;
}

Result<Entry> Parser::parse_eof(Cursor& at) {
  if (!at.done()) return error(at, "nothing behind '# EOF'");
  ended_ = true;
  return Entry::end;
}

Result<Entry> Parser::parse_sample(Cursor at) {
  const char* from = at.at;
  name_ = TRY(parse_name(at, "the name of a metric, as [a-zA-Z_:][a-zA-Z0-9_:]*"));
  labels_.clear();
  unescaped_.clear();
  timestamp_.reset();
  Cursor braces = at;
  if (syntax_ == Syntax::text) braces.skip_blanks();
  if (braces.sees('{')) {
    at = braces;
    TRY(parse_labels(at, labels_));
  }
  series_ = {from, static_cast<std::size_t>(at.at - from)};
  if (series_.ends_with('}') && syntax_ == Syntax::text)
    at.skip_blanks();
  else
    TRY(skip_separator(at, "the value"));
  value_ = TRY(parse_value(at, "a value: a number, NaN, +Inf or -Inf"));
  if (syntax_ == Syntax::text) at.skip_blanks();
  if (!at.done()) TRY(parse_timestamp(at));
  return Entry::sample;
}

Result<double> Parser::parse_value(Cursor& at, const char* expected) const {
  const Cursor word = at;
  std::optional<double> number = number_of(at.word());
  if (!number) return error(word, expected);
  return *number;
}

// Parses the text after the value: "1700000000000", and in OpenMetrics "1700000000.5 # {trace_id="x"} 0.3
// 1700000000.2".
Result<void> Parser::parse_timestamp(Cursor& at) {
  if (syntax_ == Syntax::open_metrics) {
    TRY(skip_separator(at, "a timestamp or an exemplar"));
    if (!at.sees('#')) {
      timestamp_ = TRY(parse_value(at, "a timestamp in seconds"));
      if (at.done()) return {};
      TRY(skip_separator(at, "an exemplar"));
    }
    return parse_exemplar(at);
  }
  const Cursor word = at;
  std::string_view digits = at.word();
  std::int64_t milliseconds = 0;
  auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), milliseconds);
  if (failed != std::errc{} || end != digits.data() + digits.size())
    return error(word, "a timestamp in whole milliseconds, or the end of the line");
  timestamp_ = static_cast<double>(milliseconds) * 1e-3;
  at.skip_blanks();
  if (!at.done()) return error(at, "nothing behind the timestamp");
  return {};
}

// Checks an exemplar, without keeping it.
Result<void> Parser::parse_exemplar(Cursor& at) {
  if (!at.skip('#')) return error(at, "an exemplar, '# {', or the end of the line");
  TRY(skip_separator(at, "an exemplar's labels"));
  if (!at.sees('{')) return error(at, "an exemplar's labels in braces");
  exemplar_.clear();
  TRY(parse_labels(at, exemplar_));
  TRY(skip_separator(at, "an exemplar's value"));
  TRY(parse_value(at, "an exemplar's value"));
  if (at.done()) return {};
  TRY(skip_separator(at, "an exemplar's timestamp"));
  TRY(parse_value(at, "an exemplar's timestamp"));
  if (!at.done()) return error(at, "nothing behind the exemplar");
  return {};
}

Result<void> Parser::parse_labels(Cursor& at, std::vector<Label>& labels) {
  // Reserves enough for the whole line first, because unescaped text must not move.
  if (std::memchr(at.at, '\\', at.rest().size()) != nullptr) unescaped_.reserve(unescaped_.size() + at.rest().size());
  bool loose = syntax_ == Syntax::text;
  at.skip('{');
  if (loose) at.skip_blanks();
  if (at.skip('}')) return {};
  for (;;) {
    TRY(parse_label(at, labels));
    if (loose) at.skip_blanks();
    if (at.skip('}')) return {};
    if (!at.skip(',')) return error(at, "',' or '}' behind a label");
    if (loose) at.skip_blanks();
    if (loose && at.skip('}')) return {};
  }
}

Result<void> Parser::parse_label(Cursor& at, std::vector<Label>& labels) {
  bool loose = syntax_ == Syntax::text;
  const char* from = at.at;
  if (at.done() || !is(*at.at, kLabelStart)) return error(at, "the name of a label, as [a-zA-Z_][a-zA-Z0-9_]*");
  while (at.at != at.end && is(*at.at, kLabelPart)) ++at.at;
  Label label{{from, static_cast<std::size_t>(at.at - from)}, {}};
  if (loose) at.skip_blanks();
  if (!at.skip('=')) return error(at, "'=' behind the name of a label");
  if (loose) at.skip_blanks();
  label.value = TRY(parse_label_value(at));
  for (const Label& other : labels) {
    if (other.name == label.name) return error({from, at.end}, "no second label '" + std::string(label.name) + "'");
  }
  if (labels.size() == limits_.labels)
    return error({from, at.end}, "at most " + std::to_string(limits_.labels) + " labels");
  labels.push_back(label);
  return {};
}

Result<std::string_view> Parser::parse_label_value(Cursor& at) {
  if (!at.skip('"')) return error(at, "a label's value in quotes");
  const char* from = at.at;
  bool escaped = false;
  while (at.at != at.end && *at.at != '"') {
    if (*at.at == '\\' && at.at + 1 != at.end) {
      escaped = true;
      ++at.at;
    }
    ++at.at;
  }
  if (at.done()) return error({from - 1, at.end}, "a '\"' at the end of the label's value");
  std::string_view value(from, static_cast<std::size_t>(at.at - from));
  ++at.at;
  return escaped ? unescape(value, true) : Result<std::string_view>(value);
}

// Replaces "\\", "\n" and, in quoted text, "\"". Any other backslash is kept.
Result<std::string_view> Parser::unescape(std::string_view text, bool quotes) {
  if (text.find('\\') == std::string_view::npos) return text;
  const std::size_t from = unescaped_.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    const bool known = next == '\\' || next == 'n' || (quotes && next == '"');
    unescaped_ += !known ? text[i] : next == 'n' ? '\n' : next;
    i += known ? 1 : 0;
  }
  return std::string_view(unescaped_).substr(from);
}

}  // namespace koord::exposition
