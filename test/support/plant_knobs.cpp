// SPDX-License-Identifier: Apache-2.0
// Parses and formats the knobs of a Plant's groups.
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "test/support/plant_tree.hpp"

namespace koord::test {

namespace {

struct Amount {
  std::string_view name;
  double PlantGroup::*member;
  double least = 0, most = kNoLimit;
  bool may_be_max = true;
};

constexpr Amount kAmounts[] = {
    {"cpu.weight", &PlantGroup::weight, 1, 10'000, false},
    {"cpu.max.burst", &PlantGroup::burst_us, 0, kNoLimit, false},
    {"memory.min", &PlantGroup::memory_min},
    {"memory.low", &PlantGroup::memory_low},
    {"memory.high", &PlantGroup::memory_high},
    {"memory.max", &PlantGroup::memory_max},
};

[[noreturn]] void refuse(std::string_view knob, std::string_view value, std::string_view expected) {
  throw std::invalid_argument("plant: " + std::string(knob) + ": expected " + std::string(expected) + ", found '" +
                              std::string(value) + "'");
}

double number(std::string_view knob, std::string_view text, double least = 0, double most = kNoLimit) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto value = static_cast<double>(number);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    refuse(knob, text, "a number from " + std::to_string(std::llround(least)) + " on");
  return value;
}

double amount(std::string_view knob, std::string_view text, double least = 0, double most = kNoLimit) {
  return text == "max" ? kNoLimit : number(knob, text, least, most);
}

std::string spelled(double value) { return value >= kNoLimit ? "max" : std::to_string(std::llround(value)); }

void set_bandwidth(PlantGroup& group, std::string_view value) {
  const std::size_t space = value.find(' ');
  const double quota = amount("cpu.max", value.substr(0, space), 1000);
  if (space != std::string_view::npos) group.period_us = number("cpu.max", value.substr(space + 1), 1000, 1'000'000);
  group.quota_us = quota;
  group.unused = 0;
}

void set_cpus(PlantGroup& group, std::string_view value) {
  Result<CpuSet> cpus = CpuSet::parse(value);
  if (!cpus) refuse("cpuset.cpus", value, "a list of CPUs");
  group.cpus = *std::move(cpus);
}

}  // namespace

void set_knob(PlantGroup& group, std::string_view knob, std::string_view value) {
  for (const Amount& one : kAmounts)
    if (one.name == knob) {
      if (value == "max" && !one.may_be_max) refuse(knob, value, "a number");
      group.*one.member = amount(knob, value, one.least, one.most);
      return;
    }
  if (knob == "cpu.max") return set_bandwidth(group, value);
  if (knob == "cpuset.cpus") return set_cpus(group, value);
  if (knob == "cpu.idle") return void(group.idle = number(knob, value, 0, 1) == 1);
  if (knob == "cpu.shares") return void(group.weight = number(knob, value, 2, 262'144) * 100 / 1024);
  if (knob == "memory.reclaim") return void(reclaim(group, number(knob, value)));
  throw std::out_of_range("plant: no knob '" + std::string(knob) + "'");
}

std::string get_knob(const PlantGroup& group, std::string_view knob) {
  for (const Amount& one : kAmounts)
    if (one.name == knob) return spelled(group.*one.member);
  if (knob == "cpu.max") return spelled(group.quota_us) + " " + spelled(group.period_us);
  if (knob == "cpuset.cpus") return group.cpus.list();
  if (knob == "cpu.idle") return group.idle ? "1" : "0";
  if (knob == "cpu.shares") return spelled(group.weight * 1024 / 100);
  throw std::out_of_range("plant: no knob '" + std::string(knob) + "'");
}

}  // namespace koord::test
