// SPDX-License-Identifier: Apache-2.0
#include "core/metric/desc.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "core/base/utf8.hpp"
#include "core/metric/labels.hpp"

namespace koord::metric {
namespace {

// The prefix of koordlet's metrics about applications outside Kubernetes. No metric of the host has this prefix.
constexpr std::string_view kHostApplications = "host_application";

Result<void> check_bounds(const Desc& desc) {
  if (desc.type != Type::histogram) {
    if (desc.bounds.empty()) return {};
    return invalid("it has bounds, which only a histogram has");
  }
  if (desc.bounds.empty() || desc.bounds.size() > kMaxBounds)
    return invalid("it has " + std::to_string(desc.bounds.size()) + " bounds, expected 1 to " +
                   std::to_string(kMaxBounds));
  if (!std::all_of(desc.bounds.begin(), desc.bounds.end(), [](double b) { return std::isfinite(b); }))
    return invalid("a bound is not finite; +Inf is implied");
  if (std::adjacent_find(desc.bounds.begin(), desc.bounds.end(), std::greater_equal<>()) != desc.bounds.end())
    return invalid("its bounds are not in ascending order");
  return {};
}

Result<void> check_size(const char* what, const std::string& text, std::size_t most) {
  if (text.size() <= most) return {};
  return invalid("its " + std::string(what) + " has " + std::to_string(text.size()) + " bytes, expected at most " +
                 std::to_string(most));
}

Result<void> check_parts(const Desc& desc) {
  TRY(check_size("name", desc.name, kMaxNameBytes));
  TRY(check_size("unit", desc.unit, kMaxUnitBytes));
  TRY(check_size("help", desc.help, kMaxHelpBytes));
  if (!is_valid_name(desc.name)) return invalid("the name does not match [a-zA-Z_][a-zA-Z0-9_]*");
  if (is_reserved(desc.name)) return invalid("this name is reserved for the host's own metrics");
  if (!(desc.resolution > 0) || !std::isfinite(desc.resolution))
    return invalid("its resolution is " + std::to_string(desc.resolution) + ", expected a positive number");
  if (!is_valid_utf8(desc.help) || !is_valid_utf8(desc.unit)) return invalid("its help or unit is not UTF-8");
  return check_bounds(desc);
}

}  // namespace

std::string_view to_string(Type type) {
  switch (type) {
    case Type::gauge:
      return "gauge";
    case Type::counter:
      return "counter";
    case Type::histogram:
      return "histogram";
  }
  return "unknown";
}

bool is_reserved(std::string_view name) {
  if (name.starts_with(kHostApplications)) return false;
  return std::any_of(std::begin(kReservedPrefixes), std::end(kReservedPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<void> check(const Desc& desc) {
  Result<void> checked = check_parts(desc);
  if (!checked) return std::move(checked).error().context("metric '" + desc.name.substr(0, kMaxNameBytes) + "'");
  return {};
}

}  // namespace koord::metric
