// SPDX-License-Identifier: Apache-2.0
// Parser: reads scrape responses line by line, in the Prometheus text format 0.0.4 and in OpenMetrics 1.0.
// Pulls one entry after the other out of a text that it borrows; copies only escaped texts. Input comes from
// outside: everything is checked and bounded, and an error names the line, the found and the expected text.
// [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::exposition {

enum class Syntax : std::uint8_t {
  text,          // 0.0.4: blanks where one likes, timestamps in milliseconds
  open_metrics,  // 1.0: one space, timestamps in seconds, units, exemplars, a last line "# EOF"
};
// By the header Content-Type; any other type than OpenMetrics is read as the text format.
Syntax syntax_of(std::string_view content_type);

enum class Type : std::uint8_t { unknown, gauge, counter, histogram, summary, gauge_histogram, info, state_set };

struct Limits {
  std::size_t line_bytes = 64 << 10;
  std::size_t labels = 64;  // of a sample
};

struct Label {
  std::string_view name, value;
  bool operator==(const Label&) const = default;
};

enum class Entry : std::uint8_t { end, type, help, unit, sample };

class Parser {
 public:
  Parser(std::string_view text, Syntax syntax, Limits limits = {});

  // Goes on to the next line with content. The functions below return parts of that line; their texts are
  // valid until the next call. After an error nothing follows.
  Result<Entry> next();

  std::string_view name() const { return name_; }  // of the family, or of a sample as it stands
  Type type() const { return type_; }
  std::string_view help() const { return description_; }  // or the unit
  std::string_view unit() const { return description_; }

  std::span<const Label> labels() const { return labels_; }
  double value() const { return value_; }
  std::optional<double> timestamp_seconds() const { return timestamp_; }
  // Name and labels of a sample as they are written: its identity.
  std::string_view series() const { return series_; }

  std::size_t line() const { return line_; }

 private:
  struct Cursor;

  Result<Entry> parse_line(std::string_view line);
  Result<Entry> parse_comment(Cursor at);
  Result<Entry> parse_type(Cursor& at);
  Result<Entry> parse_help(Cursor& at);
  Result<Entry> parse_unit(Cursor& at);
  Result<Entry> parse_eof(Cursor& at);
  Result<Entry> parse_sample(Cursor at);
  Result<void> parse_labels(Cursor& at, std::vector<Label>& labels);
  Result<void> parse_label(Cursor& at, std::vector<Label>& labels);
  Result<std::string_view> parse_label_value(Cursor& at);
  Result<void> parse_timestamp(Cursor& at);
  Result<void> parse_exemplar(Cursor& at);
  Result<double> parse_value(Cursor& at, const char* expected) const;
  Result<std::string_view> parse_name(Cursor& at, const char* expected) const;
  Result<void> skip_separator(Cursor& at, const char* before) const;
  Result<std::string_view> unescape(std::string_view text, bool quotes);
  Error error(const Cursor& at, const std::string& expected) const;

  std::string_view rest_;
  const Syntax syntax_;
  const Limits limits_;
  std::size_t line_ = 0;
  bool ended_ = false;  // by "# EOF"

  std::string_view name_, description_, series_;
  Type type_ = Type::unknown;
  std::vector<Label> labels_, exemplar_;
  double value_ = 0;
  std::optional<double> timestamp_;
  std::string unescaped_;  // holds the line's unescaped texts; large enough before the first one is put in
};

}  // namespace koord::exposition
