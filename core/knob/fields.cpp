// SPDX-License-Identifier: Apache-2.0
#include "core/knob/fields.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/parse.hpp"

namespace koord::knob {
namespace {

enum class FieldForm { limit, small_limit, number, decimal, flag, control, model };

struct FieldRule {
  std::string_view name;
  FieldForm form;
  std::string_view none;  // the value without a setting; empty: the field may be left out
};

// Documentation/admin-guide/cgroup-v2.rst of Linux, "IO Interface Files".
constexpr FieldRule kMax[] = {{"rbps", FieldForm::limit, "max"},
                              {"wbps", FieldForm::limit, "max"},
                              {"riops", FieldForm::small_limit, "max"},
                              {"wiops", FieldForm::small_limit, "max"}};
constexpr FieldRule kLatency[] = {{"target", FieldForm::number, "0"}};
constexpr FieldRule kCostQos[] = {{"enable", FieldForm::flag, ""},  {"ctrl", FieldForm::control, ""},
                                  {"rpct", FieldForm::decimal, ""}, {"rlat", FieldForm::number, ""},
                                  {"wpct", FieldForm::decimal, ""}, {"wlat", FieldForm::number, ""},
                                  {"min", FieldForm::decimal, ""},  {"max", FieldForm::decimal, ""}};
constexpr FieldRule kCostModel[] = {{"ctrl", FieldForm::control, ""},     {"model", FieldForm::model, ""},
                                    {"rbps", FieldForm::number, ""},      {"rseqiops", FieldForm::number, ""},
                                    {"rrandiops", FieldForm::number, ""}, {"wbps", FieldForm::number, ""},
                                    {"wseqiops", FieldForm::number, ""},  {"wrandiops", FieldForm::number, ""}};

std::span<const FieldRule> rules_of(const Knob& knob) {
  if (knob.name == "io.max") return kMax;
  if (knob.name == "io.latency") return kLatency;
  return knob.name == "io.cost.qos" ? std::span<const FieldRule>(kCostQos) : std::span<const FieldRule>(kCostModel);
}

bool is_number(std::string_view text, std::int64_t least) {
  Result<std::int64_t> number = parse_int(text);
  return number && *number >= least;
}

// Returns "max" for a limit of 2^32 - 1 or more I/Os per second. The kernel stores this limit in 32 bits, and all bits
// set mean no limit. A larger value means no limit on cgroup v2. But v1 takes it modulo 2^32, so 2^32 + 1 would be one
// I/O per second.
std::string_view taken(const FieldRule& rule, std::string_view text) {
  if (rule.form != FieldForm::small_limit) return text;
  const Result<std::int64_t> number = parse_int(text);
  return number && *number >= std::int64_t{UINT32_MAX} ? "max" : text;
}

bool is_value(FieldForm form, std::string_view text) {
  switch (form) {
    case FieldForm::limit:
    case FieldForm::small_limit:
      return text == "max" || is_number(text, 1);
    case FieldForm::number:
      return is_number(text, 0);
    case FieldForm::decimal: {
      Result<double> number = parse_double(text);
      return number && std::isfinite(*number) && *number >= 0;
    }
    case FieldForm::flag:
      return text == "0" || text == "1";
    case FieldForm::control:
      return text == "auto" || text == "user";
    case FieldForm::model:
      return text == "linear";
  }
  return false;
}

std::string expected_fields(const Knob& knob) {
  std::string names;
  for (const FieldRule& rule : rules_of(knob))
    names += std::string(names.empty() ? "" : ", ") + std::string(rule.name) + "=";
  return "some of " + names + " behind the device";
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_domain_value(const Knob& knob, std::string_view text) {
  if (knob.form == Form::masks) return hexadecimal(text).value_or(0) != 0;
  Result<std::int64_t> number = parse_int(text);
  return number && *number >= knob.least && *number <= knob.most;
}

}  // namespace

Error unexpected(const Knob& knob, std::string_view text, const std::string& expected) {
  return invalid("the value of " + std::string(knob.name) + " is '" + std::string(text) + "', expected " + expected);
}

bool is_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 10 && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return digits(text.substr(0, colon)) && digits(text.substr(colon + 1));
}

Result<Fields> parse_fields(const Knob& knob, std::string_view text) {
  Fields fields;
  std::string_view rest = text;
  next_word(rest);
  while (auto word = next_word(rest)) {
    const std::size_t equals = word->find('=');
    const std::string_view name = word->substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : word->substr(equals + 1);
    const auto rules = rules_of(knob);
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FieldRule& r) { return r.name == name; });
    const bool fine =
        rule != rules.end() && is_value(rule->form, value) && fields.emplace(name, taken(*rule, value)).second;
    if (!fine) return unexpected(knob, text, expected_fields(knob) + ", each once and with a value that it takes");
  }
  if (fields.empty()) return unexpected(knob, text, expected_fields(knob));
  for (const FieldRule& rule : rules_of(knob))
    if (!rule.none.empty()) fields.emplace(rule.name, rule.none);
  return fields;
}

Fields read_fields(std::string_view text) {
  Fields fields;
  while (auto word = next_word(text)) {
    const std::size_t equals = word->find('=');
    if (equals != std::string_view::npos) fields.emplace(word->substr(0, equals), word->substr(equals + 1));
  }
  return fields;
}

std::string spell_fields(const Knob& knob, const Fields& fields) {
  std::string text;
  for (const FieldRule& rule : rules_of(knob)) {
    const auto field = fields.find(rule.name);
    if (field != fields.end()) text += std::string(text.empty() ? "" : " ") + field->first + "=" + field->second;
  }
  return text;
}

Result<Fields> parse_domains(const Knob& knob, std::string_view text) {
  Fields domains;
  std::string_view rest = text;
  while (auto part = next_field(rest, ';')) {
    const std::size_t equals = part->find('=');
    const std::string_view id = trim(part->substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : trim(part->substr(equals + 1));
    const bool is_id = !id.empty() && id.size() <= 10 && id.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_id || !is_domain_value(knob, value) || !domains.emplace(id, value).second) {
      domains.clear();
      break;
    }
  }
  if (!domains.empty()) return domains;
  const char* kind = knob.form == Form::masks ? "a mask in hexadecimal, not 0, for each cache: \"0=ff;1=f0\""
                                              : "a number from 1 for each cache: \"0=50;1=100\"";
  return unexpected(knob, text, kind);
}

std::string spell_domains(const Fields& domains) {
  std::vector<std::pair<std::uint64_t, std::string>> parts;
  for (const auto& [id, value] : domains) parts.emplace_back(parse_uint(id).value_or(0), id + "=" + value);
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const auto& [number, part] : parts) text += (text.empty() ? "" : ";") + part;
  return text;
}

bool same_field(const Knob& knob, std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (knob.form == Form::masks) return hexadecimal(a) && hexadecimal(a) == hexadecimal(b);
  Result<double> of_a = parse_double(a), of_b = parse_double(b);
  return of_a && of_b && *of_a == *of_b;
}

long double width_of_fields(const Knob& knob, const Fields& fields) {
  constexpr long double kMaxBits = 64;
  if (knob.place == Place::root_cgroup) return 0;  // switches and device parameters have no order
  long double width = 0;
  for (const auto& [name, text] : fields) {
    if (knob.form == Form::masks) {
      width += std::popcount(hexadecimal(text).value_or(0));
      continue;
    }
    const auto number = static_cast<long double>(parse_int(text).value_or(0));
    if (knob.name == "io.latency")  // a shorter time protects more; 0: no protection
      width += number == 0 ? 0 : 1 / number;
    else if (knob.name == "io.max")
      width += text == "max" ? kMaxBits : std::log2(1 + number);
    else
      width += number;
  }
  return width;
}

std::string_view throttle_field(std::size_t file) { return kMax[file].name; }

}  // namespace koord::knob
