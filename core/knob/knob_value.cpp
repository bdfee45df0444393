// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/parse.hpp"
#include "core/cgroup/extraction.hpp"
#include "core/knob/fields.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/process_texts.hpp"
#include "core/knob/traffic_text.hpp"

namespace koord::knob {
namespace {

// The kernel's limits of cpu.max.
constexpr std::int64_t kLeastPeriodUs = 1000, kMostPeriodUs = 1'000'000, kPeriodUs = 100'000;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::string range_of(const Knob& knob) {
  std::string range = "a number from " + std::to_string(knob.least);
  if (knob.most != kUnbounded) range += " to " + std::to_string(knob.most);
  return range + (knob.form == Form::amount ? " or \"max\"" : "");
}

// Returns the limit, or -1 for an invalid text. "max" is no limit, as everywhere in cgroup v2.
std::int64_t limit_of(std::string_view text) {
  if (text == "max") return kUnlimited;
  return parse_int(text).value_or(-1);
}

Result<Value> parse_bandwidth(const Knob& knob, std::string_view text) {
  std::string_view rest = text;
  std::string_view quota = next_word(rest).value_or("");
  std::optional<std::string_view> period = next_word(rest);
  Value value{limit_of(quota), period ? parse_int(*period).value_or(-1) : kPeriodUs};
  bool unlimited = value.amount == kUnlimited;
  bool fine = (unlimited || (period && value.amount >= kLeastQuotaUs)) && value.period_us >= kLeastPeriodUs &&
              value.period_us <= kMostPeriodUs && trim(rest).empty();
  if (fine) return value;
  return unexpected(knob, text,
                    "\"QUOTA PERIOD\" in microseconds, at least 1000 each and the period at most 1000000, or \"max\"");
}

Result<Value> parse_set(const Knob& knob, std::string_view text) {
  Result<CpuSet> set = CpuSet::parse(text);
  if (!set || set->empty()) return unexpected(knob, text, "a list such as \"0-3,8\" that is not empty");
  return Value{.set = *std::move(set)};
}

Result<Value> parse_line(const Knob& knob, std::string_view text) {
  std::string_view rest = text;
  const std::string_view device = next_word(rest).value_or("");
  if (!is_device(device)) return unexpected(knob, text, "a device such as \"8:16\" and its fields");
  Fields fields = TRY(parse_fields(knob, text));
  return Value{.item = std::string(device), .fields = std::move(fields)};
}

Result<Value> parse_weight(const Knob& knob, std::string_view text) {
  std::string_view rest = text;
  const std::string_view item = next_word(rest).value_or(""), weight = trim(rest);
  const Result<std::int64_t> number = parse_int(weight);
  const bool is_weight = number && *number >= knob.least && *number <= knob.most;
  if (item == "default" ? is_weight : is_device(item) && (is_weight || weight == "default"))
    return Value{.amount = is_weight ? *number : 0, .item = std::string(item)};
  return unexpected(knob, text, "\"default\" or a device such as \"8:16\", and " + range_of(knob));
}

Result<Value> parse_feature(const Knob& knob, std::string_view text) {
  const bool on = !text.starts_with("NO_");
  const std::string_view name = on ? text : text.substr(3);
  const bool fine = !name.empty() && name.size() <= 64 &&
                    name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
  if (!fine) return unexpected(knob, text, "the name of a feature in capitals, with NO_ before it to switch it off");
  return Value{.amount = on ? 1 : 0, .item = std::string(name)};
}

Result<Value> parse_group(const Knob& knob, std::string_view text) {
  const std::string_view name = text == "/" ? std::string_view() : text;
  if (name.find_first_of("/\n ") != std::string_view::npos || name.size() > 255)
    return unexpected(knob, text, "the name of a resctrl group, or \"/\" for that of all others");
  return Value{.fields = {{std::string(name), ""}}};
}

std::string spell_groups(const Fields& groups) {
  std::string text;
  for (const auto& [name, nothing] : groups) text += (text.empty() ? "" : " ") + (name.empty() ? "/" : name);
  return text;
}

// Returns how much a value allows. For a set it is only the number of its members.
long double width(const Setting& setting) {
  const auto amount = static_cast<long double>(setting.value.amount);
  switch (setting.knob.form) {
    case Form::bandwidth:
      return setting.value.amount == kUnlimited ? amount : amount / static_cast<long double>(setting.value.period_us);
    case Form::set:
      return static_cast<long double>(setting.value.set.size());
    case Form::fields:
    case Form::masks:
    case Form::amounts:
      return width_of_fields(setting.knob, setting.value.fields);
    case Form::cpu_weight:
      return static_cast<long double>(cgroup::convert(setting.value.amount, cgroup::Conversion::weight_to_shares));
    case Form::group:
    case Form::core_group:
    case Form::traffic:
      return 0;
    default:
      return amount;
  }
}

bool has_all(const Knob& knob, const Fields& now, const Fields& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& field) {
    const auto found = now.find(field.first);
    return found != now.end() && same_field(knob, found->second, field.second);
  });
}

// Returns whether a parent must never allow less than its children while values are changed (see widest()).
bool has_parents(const Knob& knob) {
  return knob.place == Place::cgroup &&
         (knob.form == Form::bandwidth || knob.form == Form::amount || knob.form == Form::set);
}

}  // namespace

Result<Value> parse_value(const Knob& knob, std::string_view text) {
  switch (knob.form) {
    case Form::bandwidth:
      return parse_bandwidth(knob, text);
    case Form::set:
      return parse_set(knob, text);
    case Form::fields:
      return parse_line(knob, text);
    case Form::weight:
      return parse_weight(knob, text);
    case Form::feature:
      return parse_feature(knob, text);
    case Form::masks:
    case Form::amounts:
      return Value{.fields = TRY(parse_domains(knob, text))};
    case Form::group:
      return parse_group(knob, text);
    case Form::core_group:
      return parse_core_group(knob, text);
    case Form::traffic:
      return parse_traffic(knob, text);
    default:
      break;
  }
  if (knob.form == Form::amount && text == "max") return Value{kUnlimited};
  Result<std::int64_t> number = parse_int(text);
  if (!number || *number < knob.least || *number > knob.most) return unexpected(knob, text, range_of(knob));
  return Value{*number};
}

std::string spell(const Knob& knob, const Value& value) {
  const std::string amount = value.amount == kUnlimited ? "max" : std::to_string(value.amount);
  switch (knob.form) {
    case Form::set:
      return value.set.list();
    case Form::bandwidth:
      return amount + " " + std::to_string(value.period_us);
    case Form::fields:
      return value.fields.empty() ? value.item : value.item + " " + spell_fields(knob, value.fields);
    case Form::weight:
      return value.item + " " + (value.amount == 0 ? "default" : amount);
    case Form::feature:
      return (value.amount != 0 ? "" : "NO_") + value.item;
    case Form::masks:
    case Form::amounts:
      return spell_domains(value.fields);
    case Form::group:
      return spell_groups(value.fields);
    case Form::score:
      return spell_scores(value);
    case Form::core_group:
      return spell_core_groups(value.fields);
    case Form::traffic:
      return spell_traffic(value);
    default:
      return amount;
  }
}

bool same(const Knob& knob, const Value& now, const Value& wanted) {
  if (now.item != wanted.item) return false;
  switch (knob.form) {
    case Form::set:
      return now.set == wanted.set;
    case Form::bandwidth:
      return now.amount == wanted.amount && (now.amount == kUnlimited || now.period_us == wanted.period_us);
    case Form::fields:
    case Form::masks:
    case Form::amounts:
      return has_all(knob, now.fields, wanted.fields);
    case Form::score:
      return now.amount == wanted.amount && now.fields == wanted.fields;
    case Form::traffic:
      return now.fields == wanted.fields;
    case Form::core_group:
    case Form::group:  // a cgroup without threads matches every group
      return has_all(knob, wanted.fields, now.fields);
    default:
      return now.amount == wanted.amount;
  }
}

bool is_stricter(const Setting& a, const Setting& b) {
  return a.knob.large_is_strict ? width(a) > width(b) : width(a) < width(b);
}

Value widest(const Knob& knob, const Value& a, const Value& b) {
  if (!has_parents(knob)) return b;
  if (knob.form == Form::set) return {.set = a.set | b.set};
  return width({knob, a}) > width({knob, b}) ? a : b;
}

}  // namespace koord::knob
