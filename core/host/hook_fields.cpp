// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>

#include "core/base/cpu_set.hpp"
#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/host/hook_paths.hpp"

namespace koord::host {
namespace {

constexpr std::size_t kMostText = 64u << 10;
// Limit of a Kubernetes annotation: a prefix of 253, a slash, a name of 63.
constexpr std::size_t kMostKey = 317;

struct Number {
  std::string_view field;
  std::int64_t least, most;
  bool may_be_none = false;  // -1 is valid
  bool may_be_scaled = false;
};

constexpr std::int64_t kMost = INT64_MAX;
constexpr Number kNumbers[] = {
    {"linux.cpu.shares", 2, 262144},
    {.field = "linux.cpu.quota", .least = 1000, .most = kMost, .may_be_none = true, .may_be_scaled = true},
    {"linux.cpu.period", 1000, 1000000},
    {"linux.cpu.idle", 0, 1},
    {"linux.cpu.bvt_warp_ns", -1, 2},
    {.field = "linux.memory.limit", .least = 0, .most = kMost, .may_be_none = true, .may_be_scaled = true},
    {.field = "linux.memory.swap", .least = 0, .most = kMost, .may_be_none = true},
    {"linux.oom_score_adj", -1000, 1000},
    {"linux.net_cls.classid", 0, UINT32_MAX},
};
constexpr std::string_view kSets[] = {"linux.cpuset.cpus", "linux.cpuset.mems"};
constexpr std::string_view kGroup = "linux.rdt.closid", kCoreGroup = "linux.core_sched.group";
constexpr std::size_t kMostCoreGroup = 253;
constexpr double kMostFactor = 1000;
constexpr std::string_view kEnvironment = "env:", kAnnotation = "annotation:";

Error unfit(std::string_view field, std::string_view value, const std::string& expected) {
  return invalid(std::string(field) + " is '" + std::string(value.substr(0, 100)) + "', expected " + expected);
}

Result<void> check_number(const Number& number, std::string_view value) {
  Result<std::int64_t> parsed = parse_int(value);
  if (parsed && ((*parsed >= number.least && *parsed <= number.most) || (number.may_be_none && *parsed == -1)))
    return {};
  std::string expected = "a number from " + std::to_string(number.least);
  if (number.most != kMost) expected += " to " + std::to_string(number.most);
  return unfit(number.field, value, expected + (number.may_be_none ? ", or -1 for none" : ""));
}

bool has_controls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Checks a text. The container runtime gets it in a message that it refuses as a whole if one byte is not UTF-8.
Result<void> check_text(std::string_view field, std::string_view value) {
  if (value.size() <= kMostText && value.find('\0') == std::string_view::npos && is_valid_utf8(value)) return {};
  return unfit(field, value, "at most " + std::to_string(kMostText) + " bytes of UTF-8 without a NUL");
}

// Returns whether `key` is a valid name of a variable or annotation.
bool is_key(std::string_view key, std::size_t most) {
  return !key.empty() && key.size() <= most && !has_controls(key) && is_valid_utf8(key);
}

Result<void> check_group(std::string_view field, std::string_view value) {
  const bool is_name = !value.empty() && value.size() <= NAME_MAX && value != "." && value != ".." &&
                       value.find('/') == std::string_view::npos && !has_controls(value) && is_valid_utf8(value);
  return is_name ? Result<void>() : unfit(field, value, "the name of a directory of resctrl");
}

template <class Parsed>
Result<void> checked(Result<Parsed> parsed) {
  if (!parsed) return std::move(parsed).error();
  return {};
}

Result<void> check_core_group(std::string_view field, std::string_view value) {
  if (value.size() <= kMostCoreGroup && !has_controls(value) && is_valid_utf8(value)) return {};
  return unfit(field, value, "at most 253 bytes of UTF-8 without control characters");
}

Error unknown(std::string_view field) {
  std::vector<std::string> names{std::begin(kSets), std::end(kSets)};
  names.emplace_back(kGroup);
  names.emplace_back(kCoreGroup);
  for (const Number& number : kNumbers) names.emplace_back(number.field);
  const std::string near = nearest(field, names);
  return invalid("a hook cannot set '" + std::string(field.substr(0, 100)) + "', expected " +
                 (near.empty() ? join(names, ", ") + ", device:/dev/NAME, mount:/PATH, env:NAME or annotation:key"
                               : "perhaps '" + near + "'"));
}

}  // namespace

Result<void> check_hook_field(std::string_view field, std::string_view value) {
  const auto* number =
      std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const Number& n) { return n.field == field; });
  if (number != std::end(kNumbers)) return check_number(*number, value);
  if (std::find(std::begin(kSets), std::end(kSets), field) != std::end(kSets)) {
    Result<CpuSet> set = CpuSet::parse(value);
    if (set && !set->empty()) return {};
    return unfit(field, value,
                 field == kSets[0] ? "a list of CPUs such as \"0-3,8\"" : "a list of NUMA nodes such as \"0-1\"");
  }
  if (field == kGroup) return check_group(field, value);
  if (field.starts_with(kDeviceField)) return checked(parse_hook_device(field, value));
  if (field.starts_with(kMountField)) return checked(parse_hook_mount(field, value));
  if (field == kCoreGroup) return check_core_group(field, value);
  if (field.starts_with(kEnvironment)) {
    const std::string_view name = field.substr(kEnvironment.size());
    if (!is_key(name, kMostText) || name.find('=') != std::string_view::npos) return unknown(field);
    return check_text(field, value);
  }
  if (field.starts_with(kAnnotation)) {
    if (!is_key(field.substr(kAnnotation.size()), kMostKey)) return unknown(field);
    return check_text(field, value);
  }
  return unknown(field);
}

Result<void> check_hook_scale(std::string_view field, double factor) {
  const auto* number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                    [&](const Number& n) { return n.field == field && n.may_be_scaled; });
  if (number == std::end(kNumbers))
    return invalid("a hook cannot scale '" + std::string(field.substr(0, 100)) +
                   "', expected linux.cpu.quota or linux.memory.limit");
  if (factor > 0 && factor <= kMostFactor) return {};
  return invalid("the factor of " + std::string(field) + " is " + fmt::format("{}", factor) +
                 ", expected a number above 0, at most 1000");
}

}  // namespace koord::host
