// SPDX-License-Identifier: Apache-2.0
#include "core/hook/resource_fields.hpp"

#include <cstdint>
#include <optional>

#include "core/base/parse.hpp"

namespace koord::hook {
namespace {

// Calls `visit` with a signed or unsigned number of the resources. Returns false for other fields.
template <class Resources, class Visit>
bool visit_number(Resources& resources, std::string_view field, const Visit& visit) {
  if (field == "linux.cpu.period") return visit(resources.cpu_period_us), true;
  if (field == "linux.cpu.quota") return visit(resources.cpu_quota_us), true;
  if (field == "linux.cpu.shares") return visit(resources.cpu_shares), true;
  if (field == "linux.memory.limit") return visit(resources.memory_limit_bytes), true;
  if (field == "linux.memory.swap") return visit(resources.memory_swap_bytes), true;
  return false;
}

}  // namespace

std::string resource_text(const nri::Resources& resources, std::string_view field) {
  if (field == "linux.cpuset.cpus") return resources.cpus;
  if (field == "linux.cpuset.mems") return resources.mems;
  std::string text;
  visit_number(resources, field, [&](const auto& number) {
    if (number) text = std::to_string(*number);
  });
  return text;
}

Result<void> set_resource(nri::Resources& resources, std::string_view field, const std::string& text) {
  if (field == "linux.cpuset.cpus") return resources.cpus = text, Result<void>();
  if (field == "linux.cpuset.mems") return resources.mems = text, Result<void>();
  Result<std::int64_t> number = 0;
  visit_number(resources, field, [&]<class Number>(std::optional<Number>& value) {
    number = parse_int(text);
    if (number && *number < 0 && std::is_unsigned_v<Number>) number = invalid("'" + text + "' is negative");
    if (number && *number != 0) value = static_cast<Number>(*number);
  });
  if (!number) return std::move(number).error();
  return {};
}

}  // namespace koord::hook
