// SPDX-License-Identifier: Apache-2.0
// Converts values of knobs to the kernel's texts and back.
#include <algorithm>

#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/extraction.hpp"
#include "core/knob/fields.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/process_texts.hpp"
#include "core/knob/traffic_text.hpp"

namespace koord::knob {
namespace {

using cgroup::Controller;
using cgroup::Version;

constexpr std::int64_t kFewestShares = 2, kHighestShares = 262144, kHighestWeight = 10000;

std::int64_t weight_of_shares(std::int64_t shares) {
  return 1 + (std::clamp(shares, kFewestShares, kHighestShares) - kFewestShares) * (kHighestWeight - 1) /
                 (kHighestShares - kFewestShares);
}

// Returns the fewest shares that convert to this weight.
std::int64_t shares_of_weight(std::int64_t weight) {
  const std::int64_t above =
      (std::clamp(weight, std::int64_t{1}, kHighestWeight) - 1) * (kHighestShares - kFewestShares);
  return kFewestShares + (above + kHighestWeight - 2) / (kHighestWeight - 1);
}

Error strange(const Knob& knob, std::string_view text) {
  return invalid("the kernel says '" + std::string(text) + "' of " + std::string(knob.name));
}

Result<std::int64_t> read_number(const Knob& knob, std::string_view text) {
  if (knob.least < 0) {
    Result<std::int64_t> number = parse_int(text);
    return number ? number : strange(knob, text);
  }
  std::int64_t number = cgroup::parse_value(text);
  if (number == cgroup::kAbsent) return strange(knob, text);
  return number < 0 || number >= cgroup::kNoLimitOfV1 ? kUnlimited : number;
}

bool has_throttle_files(const Knob& knob, Version version) {
  return knob.form == Form::fields && version == Version::v1 && !knob.v1_files[1].empty();
}

// Returns the texts of io.max for v1, which has a file for each field and no word for "no limit". So a device without a
// limit has no line.
Texts encode_throttles(const Value& value) {
  Texts texts;
  for (std::size_t i = 0; i < FileNames().size(); ++i) {
    const auto field = value.fields.find(throttle_field(i));
    const bool is_limit = field != value.fields.end() && field->second != "max";
    texts.push_back(is_limit ? value.item + " " + field->second : "");
  }
  return texts;
}

Value decode_throttles(const Texts& texts) {
  Value value;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string_view rest = texts[i];
    next_word(rest);
    const std::string_view number = trim(rest);
    value.fields.emplace(throttle_field(i), number.empty() ? "max" : number);
  }
  return value;
}

Result<Value> decode_fields(const Knob& knob, const Texts& texts, Version version) {
  if (has_throttle_files(knob, version)) return decode_throttles(texts);
  std::string_view rest = texts[0];
  next_word(rest);
  Value value{.fields = read_fields(rest)};
  // A device without a line has no limit and no latency target.
  if (texts[0].empty() && knob.name == "io.max")
    for (std::size_t i = 0; i < FileNames().size(); ++i) value.fields.emplace(throttle_field(i), "max");
  if (texts[0].empty() && knob.name == "io.latency") value.fields.emplace("target", "0");
  return value;
}

Result<Value> decode_weight(const Knob& knob, std::string_view text) {
  if (text.empty()) return Value{};  // without a line the default applies
  std::string_view rest = text;
  next_word(rest);
  if (trim(rest) == "default") return Value{};
  return Value{.amount = TRY(read_number(knob, trim(rest)))};
}

Result<Value> decode_groups(std::string_view text) {
  Value value;
  while (auto name = next_word(text)) value.fields.emplace(*name == "/" ? "" : *name, "");
  return value;
}

Result<Value> decode_bandwidth(const Knob& knob, const Texts& texts, Version version) {
  std::string_view rest = texts[0];
  std::string_view quota = next_word(rest).value_or("");
  std::string_view period = version == Version::v2 ? next_word(rest).value_or("") : std::string_view(texts[1]);
  const std::int64_t amount = TRY(read_number(knob, quota)), period_us = TRY(read_number(knob, period));
  return Value{amount, period_us};
}

Result<Value> decode_number(const Knob& knob, std::string_view text, Version version) {
  std::int64_t number = TRY(read_number(knob, text));
  if (knob.form == Form::shares && version == Version::v2)
    return Value{cgroup::convert(number, cgroup::Conversion::weight_to_shares)};
  if (knob.form == Form::cpu_weight && version == Version::v1) return Value{weight_of_shares(number)};
  return Value{number};
}

}  // namespace

std::vector<std::string_view> files_of(const Knob& knob, Version version) {
  std::vector<std::string_view> files;
  const bool in_cgroup = knob.place == Place::cgroup || knob.place == Place::root_cgroup;
  if (!in_cgroup || version == Version::v2) {
    if (!knob.v2_file.empty()) files.push_back(knob.v2_file);
    if (knob.form == Form::idle) files.push_back("cpu.weight");
    return files;
  }
  for (std::string_view file : knob.v1_files)
    if (!file.empty()) files.push_back(file);
  return files;
}

Texts encode(const Knob& knob, const Value& value, Version version) {
  if (has_throttle_files(knob, version)) return encode_throttles(value);
  if (knob.form == Form::score) return {encode_scores(value)};
  if (knob.form == Form::core_group) return {encode_core_groups(value.fields)};
  if (knob.form == Form::idle) return {std::to_string(value.amount), ""};  // the kernel sets the weight
  if (version == Version::v2) {
    if (knob.form == Form::shares) return {std::to_string(weight_of_shares(value.amount))};
  } else {
    bool unlimited = value.amount == kUnlimited;
    if (knob.form == Form::bandwidth)
      return {unlimited ? "-1" : std::to_string(value.amount), std::to_string(value.period_us)};
    if (knob.name == "memory.max" && unlimited) return {"-1"};
    if (knob.form == Form::cpu_weight) return {std::to_string(shares_of_weight(value.amount))};
  }
  // The kernel rounds down to whole pages. The request is rounded in the same way, so it equals the value that is read
  // back.
  if (knob.controller == Controller::memory && knob.form == Form::amount && value.amount != kUnlimited)
    return {std::to_string(value.amount / page_size() * page_size())};
  return {spell(knob, value)};
}

Result<Value> decode(const Knob& knob, const Texts& texts, Version version, std::string_view item) {
  if (texts.size() != files_of(knob, version).size() || texts.empty())
    return invalid(std::string(knob.name) + " was not read whole");
  Result<Value> value = [&]() -> Result<Value> {
    switch (knob.form) {
      case Form::set:
        return Value{.set = TRY(CpuSet::parse(texts[0]))};
      case Form::bandwidth:
        return decode_bandwidth(knob, texts, version);
      case Form::fields:
        return decode_fields(knob, texts, version);
      case Form::weight:
        return decode_weight(knob, texts[0]);
      case Form::feature:
        return Value{.amount = texts[0].starts_with("NO_") ? 0 : 1};
      case Form::masks:
      case Form::amounts:
        return Value{.fields = TRY(parse_domains(knob, texts[0]))};
      case Form::group:
        return decode_groups(texts[0]);
      case Form::score:
        return decode_scores(texts[0]);
      case Form::core_group:
        return decode_core_groups(texts[0]);
      case Form::traffic:
        return decode_traffic(texts[0]);
      default:
        return decode_number(knob, texts[0], version);
    }
  }();
  if (value) value->item = item;
  return value;
}

bool says(const Knob& knob, const Texts& now, const Texts& written) {
  return knob.form == Form::idle && !now.empty() && !written.empty() ? now[0] == written[0] : now == written;
}

std::string item_of(const Knob& knob, std::string_view content, std::string_view item) {
  std::string_view rest = content;
  while (auto line = next_field(rest, '\n')) {
    if (knob.form == Form::feature) {
      while (auto word = next_word(*line))
        if (*word == item || (word->starts_with("NO_") && word->substr(3) == item)) return std::string(*word);
      continue;
    }
    std::string_view words = *line;
    if (next_word(words) == item) return std::string(trim(*line));
  }
  return {};
}

std::string unset_text(const Knob& knob, Version version, std::string_view item) {
  const std::string device(item);
  if (has_throttle_files(knob, version)) return device + " 0";
  if (knob.form == Form::weight) return device + " default";
  if (knob.name == "io.max") return device + " rbps=max wbps=max riops=max wiops=max";
  if (knob.name == "io.latency") return device + " target=0";
  if (knob.name == "io.cost.qos") return device + " enable=0";
  return device + " ctrl=auto";
}

}  // namespace koord::knob
