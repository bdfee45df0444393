// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_fields.hpp"

#include <algorithm>
#include <string>

#include "core/base/cpu_set.hpp"
#include "core/base/parse.hpp"

namespace koord::host {
namespace {

constexpr std::size_t kMostText = 64u << 10;
// Limit of a Kubernetes annotation: a prefix of 253, a slash, a name of 63.
constexpr std::size_t kMostKey = 317;

struct Number {
  std::string_view field;
  std::int64_t least, most;
  bool may_be_none;  // -1
};

constexpr std::int64_t kMost = INT64_MAX;
constexpr Number kNumbers[] = {
    {"linux.cpu.shares", 2, 262144, false},
    {"linux.cpu.quota", 1000, kMost, true},
    {"linux.memory.limit", 0, kMost, true},
};
constexpr std::string_view kCpus = "linux.cpuset.cpus";
constexpr std::string_view kEnvironment = "env:", kAnnotation = "annotation:";

Error unfit(std::string_view field, std::string_view value, const std::string& expected) {
  return invalid(std::string(field) + " is '" + std::string(value.substr(0, 100)) + "', expected " + expected);
}

Result<void> check_number(const Number& number, std::string_view value) {
  Result<std::int64_t> parsed = parse_int(value);
  if (parsed && ((*parsed >= number.least && *parsed <= number.most) || (number.may_be_none && *parsed == -1))) return {};
  std::string expected = "a number from " + std::to_string(number.least);
  if (number.most != kMost) expected += " to " + std::to_string(number.most);
  return unfit(number.field, value, expected + (number.may_be_none ? ", or -1 for none" : ""));
}

Result<void> check_text(std::string_view field, std::string_view value) {
  if (value.size() > kMostText || value.find('\0') != std::string_view::npos)
    return unfit(field, value, "at most " + std::to_string(kMostText) + " bytes without a NUL");
  return {};
}

Error unknown(std::string_view field) {
  std::vector<std::string> names{std::string(kCpus)};
  for (const Number& number : kNumbers) names.emplace_back(number.field);
  const std::string near = nearest(field, names);
  return invalid("a hook cannot set '" + std::string(field.substr(0, 100)) + "', expected " +
                 (near.empty() ? "linux.cpu.shares, linux.cpu.quota, linux.cpuset.cpus, linux.memory.limit, env:NAME or "
                                 "annotation:key"
                               : "perhaps '" + near + "'"));
}

}  // namespace

Result<void> check_hook_field(std::string_view field, std::string_view value) {
  const auto* number = std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const Number& n) { return n.field == field; });
  if (number != std::end(kNumbers)) return check_number(*number, value);
  if (field == kCpus) {
    Result<CpuSet> set = CpuSet::parse(value);
    return set && !set->empty() ? Result<void>() : unfit(field, value, "a list of CPUs such as \"0-3,8\"");
  }
  if (field.find('\0') != std::string_view::npos) return unknown(field);
  if (field.starts_with(kEnvironment)) {
    std::string_view name = field.substr(kEnvironment.size());
    if (name.empty() || name.size() > kMostText || name.find('=') != std::string_view::npos) return unknown(field);
    return check_text(field, value);
  }
  if (field.starts_with(kAnnotation)) {
    std::string_view key = field.substr(kAnnotation.size());
    if (key.empty() || key.size() > kMostKey) return unknown(field);
    return check_text(field, value);
  }
  return unknown(field);
}

}  // namespace koord::host
