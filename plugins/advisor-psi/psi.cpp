// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-psi/psi.hpp"

#include <algorithm>

#include "core/cgroup/extraction.hpp"
#include "core/cgroup/files.hpp"

namespace koord::psi {
namespace {

std::optional<std::int64_t> if_known(std::int64_t value) {
  return value == cgroup::kAbsent || value < 0 ? std::nullopt : std::optional(value);
}

Stall stall_of(std::span<const std::int64_t, 4> values) {
  Stall stall;
  for (std::size_t i = 0; i < kPrecisions.size(); ++i)
    if (auto hundredths = if_known(values[i])) stall.percent[i] = static_cast<double>(*hundredths) / 100;
  stall.total_us = if_known(values[3]);
  return stall;
}

}  // namespace

std::string_view label_of(Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return "cpu";
    case Resource::memory:
      return "mem";
    case Resource::io:
      return "io";
  }
  return "?";
}

std::string_view file_of(Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return "cpu.pressure";
    case Resource::memory:
      return "memory.pressure";
    case Resource::io:
      return "io.pressure";
  }
  return "?";
}

std::string_view node_file_of(Resource resource) {
  switch (resource) {
    case Resource::cpu:
      return "pressure/cpu";
    case Resource::memory:
      return "pressure/memory";
    case Resource::io:
      return "pressure/io";
  }
  return "?";
}

Pressure pressure_of(std::span<const std::int64_t, kKeys.size()> values) {
  return {stall_of(values.first<4>()), stall_of(values.last<4>())};
}

Pressure parse_pressure(std::string_view text) {
  const cgroup::FileSpec& spec = cgroup::find_logical_file(file_of(Resource::cpu))->v2;
  cgroup::Extraction extraction(cgroup::Format::pressure);
  for (std::size_t i = 0; i < kKeys.size(); ++i) extraction.add(*spec.find(kKeys[i]), i);
  std::array<std::int64_t, kKeys.size()> values;
  extraction.apply(text, values);
  return pressure_of(values);
}

std::optional<double> StalledRatio::update(std::int64_t total_us, std::uint64_t read_ns) {
  const std::optional<double> us_per_ns = rate_.update({total_us, read_ns});
  if (!us_per_ns) return std::nullopt;
  // The kernel's clock and ours are not synchronous, so the ratio may exceed 1.
  return std::min(*us_per_ns * 1000, 1.0);
}

}  // namespace koord::psi
