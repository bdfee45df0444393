// SPDX-License-Identifier: Apache-2.0
#include "core/knob/traffic_text.hpp"

#include <optional>
#include <utility>

#include "core/base/parse.hpp"
#include "core/knob/fields.hpp"

namespace koord::knob {
namespace {

constexpr std::uint64_t kLeastRate = 1000, kMostRate = 1'000'000'000'000;  // bytes per second
constexpr std::uint64_t kMostMinor = 0xfffe;
constexpr std::uint64_t kMostPriority = 7;  // TC_HTB_MAXDEPTH, TC_HTB_NUMPRIO
constexpr std::size_t kMostClasses = 4096;

std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t least, std::uint64_t most) {
  const Result<std::uint64_t> number = parse_uint(text);
  if (number && *number >= least && *number <= most) return *number;
  return std::nullopt;
}

std::optional<TrafficClass> parse_traffic_class(std::string_view text) {
  const auto rate = number_in(next_field(text, ':').value_or(""), kLeastRate, kMostRate);
  const auto ceil = number_in(next_field(text, ':').value_or(""), kLeastRate, kMostRate);
  const auto priority = number_in(text, 0, kMostPriority);
  if (!rate || !ceil || !priority || *rate > *ceil) return std::nullopt;
  return TrafficClass{*rate, *ceil, static_cast<std::uint32_t>(*priority)};
}

std::optional<TrafficClasses> parse_traffic_classes(std::string_view text) {
  TrafficClasses classes;
  while (auto part = next_field(text, ';')) {
    const auto minor = number_in(next_field(*part, '=').value_or(""), 1, kMostMinor);
    const auto one = parse_traffic_class(*part);
    if (!minor || !one || classes.size() == kMostClasses) return std::nullopt;
    if (!classes.emplace(static_cast<std::uint16_t>(*minor), *one).second) return std::nullopt;
  }
  return classes;
}

std::string text_of_class(const TrafficClass& one) {
  return std::to_string(one.rate) + ":" + std::to_string(one.ceil) + ":" + std::to_string(one.priority);
}

}  // namespace

Result<Value> parse_traffic(const Knob& knob, std::string_view text) {
  const std::optional<TrafficClasses> classes = parse_traffic_classes(text);
  if (classes && classes->contains(kTrafficRoot) && classes->contains(kTrafficDefault)) return value_of(*classes);
  return unexpected(
      knob, text.substr(0, 200),
      "\"MINOR=RATE:CEIL:PRIORITY;…\": minor numbers to 65534 with 1 and 2 among them, bytes a second from "
      "1000 to 10^12 with the rate at most the ceiling, priorities 0 to 7");
}

Result<Value> decode_traffic(std::string_view text) {
  if (trim(text).empty()) return Value{};
  Value value;
  // Classes that a different program has changed may have values that would be refused as proposals.
  while (auto part = next_field(text, ';')) {
    const std::string_view minor = next_field(*part, '=').value_or("");
    if (!number_in(minor, 1, 0xffff)) return invalid("the classes read as '" + std::string(text.substr(0, 200)) + "'");
    value.fields.emplace(minor, *part);
  }
  return value;
}

std::string spell_traffic(const Value& value) {
  std::map<std::uint64_t, std::string> sorted;
  for (const auto& [minor, text] : value.fields) sorted.emplace(parse_uint(minor).value_or(0), text);
  std::string all;
  for (const auto& [minor, text] : sorted) all += (all.empty() ? "" : ";") + std::to_string(minor) + "=" + text;
  return all;
}

TrafficClasses traffic_of(const Value& value) {
  return parse_traffic_classes(spell_traffic(value)).value_or(TrafficClasses());
}

Value value_of(const TrafficClasses& classes) {
  Value value;
  for (const auto& [minor, one] : classes) value.fields.emplace(std::to_string(minor), text_of_class(one));
  return value;
}

}  // namespace koord::knob
