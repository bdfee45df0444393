// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/extraction.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"
#include "core/base/saturating.hpp"

namespace koord::cgroup {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t saturating_multiply(std::int64_t value, std::int64_t factor) {
  std::int64_t product;
  return __builtin_mul_overflow(value, factor, &product) ? kLargest : product;
}

// Returns cpu.shares for a cpu.weight, as kubelet and koordinator convert it: the range 1…10000 to 2…262144. An idle
// cgroup has the weight 0.
std::int64_t shares_of_weight(std::int64_t weight) {
  return (std::clamp<std::int64_t>(weight, 1, 10000) - 1) * 262142 / 9999 + 2;
}

// Returns the hundredths in a text: "0.36" as 36. The kernel prints its averages with two decimal places.
std::int64_t parse_hundredths(std::string_view text) {
  std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 3) return kAbsent;
  std::int64_t whole = parse_value(text.substr(0, point));
  std::int64_t part = parse_value(text.substr(point + 1));
  if (whole < 0 || part < 0 || whole > 1'000'000) return kAbsent;
  return whole * 100 + part;
}

// Returns kAbsent if one of the values is absent.
std::int64_t sum(std::int64_t left, std::int64_t right) {
  if (left == kAbsent || right == kAbsent) return kAbsent;
  return saturating_sum(left, right);
}

}  // namespace

std::int64_t parse_value(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data() + text.size()) {
    if (error == std::errc()) return value;
    if (error == std::errc::result_out_of_range && text.front() != '-') return kLargest;
  }
  return text == "max" ? -1 : kAbsent;
}

std::int64_t convert(std::int64_t value, Conversion conversion) {
  if (value == kAbsent) return kAbsent;
  switch (conversion) {
    case Conversion::none:
      return value;
    case Conversion::micro_to_nano:
      return saturating_multiply(value, 1000);
    case Conversion::pages_to_bytes:
      return saturating_multiply(value, page_size());
    case Conversion::weight_to_shares:
      return shares_of_weight(value);
    case Conversion::huge_is_unlimited:
      return value >= kNoLimitOfV1 ? -1 : value;
  }
  return kAbsent;
}

void Extraction::add(const KeySpec& spec, std::size_t slot) {
  Wanted wanted;
  wanted.slot = static_cast<std::uint32_t>(slot);
  wanted.conversion = spec.conversion;
  switch (format_) {
    case Format::words:
      wanted.position = static_cast<std::uint16_t>(parse_value(spec.kernel_key));
      break;
    case Format::flat:
      wanted.line = spec.kernel_key;
      break;
    case Format::numa: {
      std::string_view lines = spec.kernel_key;
      wanted.line = next_word(lines).value_or("");
      wanted.word = spec.key.substr(spec.key.rfind(' ') + 1);
      if (std::optional<std::string_view> second = next_word(lines)) {
        wanted_.push_back(wanted);
        wanted.line = *second;
        wanted.addend = true;
      }
      break;
    }
    case Format::pressure: {
      std::string_view rest = spec.kernel_key;
      wanted.line = next_word(rest).value_or("");
      wanted.word = next_word(rest).value_or("");
    }
  }
  wanted_.push_back(wanted);
}

void Extraction::apply(std::string_view text, std::span<std::int64_t> values) {
  for (const Wanted& wanted : wanted_) values[wanted.slot] = kAbsent;
  switch (format_) {
    case Format::words:
      return from_words(text, values);
    case Format::flat:
      return from_flat(text, values);
    case Format::numa:
    case Format::pressure:
      return from_assignments(text, values);
  }
}

void Extraction::from_words(std::string_view text, std::span<std::int64_t> values) const {
  std::string_view rest = text.substr(0, text.find('\n'));
  for (std::size_t position = 0; auto word = next_word(rest); ++position) {
    for (const Wanted& wanted : wanted_) {
      if (wanted.position == position) values[wanted.slot] = convert(parse_value(*word), wanted.conversion);
    }
  }
}

// Moves each found key to the front and does not compare it again. After the first read the keys are in the file's
// order, and the position of a key's end distinguishes nearly all lines without a comparison of texts.
void Extraction::from_flat(std::string_view text, std::span<std::int64_t> values) {
  std::size_t found = 0;
  while (found < wanted_.size()) {
    std::optional<std::string_view> line = next_field(text, '\n');
    if (!line) return;
    for (std::size_t i = found; i < wanted_.size(); ++i) {
      Wanted& wanted = wanted_[i];
      std::size_t size = wanted.line.size();
      if (line->size() <= size || (*line)[size] != ' ' || !line->starts_with(wanted.line)) continue;
      values[wanted.slot] = convert(parse_value(line->substr(size + 1)), wanted.conversion);
      std::swap(wanted, wanted_[found++]);
    }
  }
}

// Reads lines "name word=value …". On v1 the name itself is an assignment.
void Extraction::from_assignments(std::string_view text, std::span<std::int64_t> values) {
  for (Wanted& wanted : wanted_) wanted.found = kAbsent;
  while (std::optional<std::string_view> line = next_field(text, '\n')) {
    std::string_view name = next_word(*line).value_or("");
    name = name.substr(0, name.find('='));
    bool any = std::any_of(wanted_.begin(), wanted_.end(), [name](const Wanted& w) { return w.line == name; });
    if (!any) continue;
    while (std::optional<std::string_view> word = next_word(*line)) from_assignment(name, *word);
  }
  for (const Wanted& wanted : wanted_) {
    std::int64_t& value = values[wanted.slot];
    value = wanted.addend ? sum(value, wanted.found) : wanted.found;
  }
}

void Extraction::from_assignment(std::string_view line_name, std::string_view word) {
  std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return;
  std::string_view name = word.substr(0, equals);
  std::string_view value = word.substr(equals + 1);
  for (Wanted& wanted : wanted_) {
    if (wanted.line != line_name || wanted.word != name) continue;
    bool average = format_ == Format::pressure && name.starts_with("avg");
    wanted.found = average ? parse_hundredths(value) : convert(parse_value(value), wanted.conversion);
  }
}

}  // namespace koord::cgroup
