// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/estimate.hpp"

#include <algorithm>
#include <utility>

namespace koord::performance {
namespace {

constexpr double kMaxRejected = 1.0 / 20;
constexpr std::size_t kHeaderWords = 3;  // number of events, time enabled, time running
constexpr std::size_t kWordsPerEvent = 2;

double number(std::uint64_t value) { return static_cast<double>(value); }

bool is_accepted(const GroupReading& cpu, double min_ratio) {
  return cpu.running_ns > 0 && number(cpu.running_ns) >= min_ratio * number(cpu.enabled_ns);
}

}  // namespace

std::optional<GroupReading> parse_group(std::span<const std::uint64_t> words, std::span<const std::uint64_t> ids) {
  if (words.size() != kHeaderWords + kWordsPerEvent * ids.size() || words[0] != ids.size()) return std::nullopt;
  GroupReading reading{.enabled_ns = words[1], .running_ns = words[2], .counts = {}};
  const auto events = words.subspan(kHeaderWords);
  for (const std::uint64_t id : ids) {
    std::size_t at = 0;
    while (at < events.size() && events[at + 1] != id) at += kWordsPerEvent;
    if (at == events.size()) return std::nullopt;
    reading.counts.push_back(events[at]);
  }
  return reading;
}

std::optional<std::vector<GroupReading>> since(std::span<const GroupReading> now,
                                               std::span<const GroupReading> before) {
  if (now.size() != before.size()) return std::nullopt;
  std::vector<GroupReading> difference(now.begin(), now.end());
  bool is_later = true;
  const auto subtract = [&](std::uint64_t& value, std::uint64_t earlier) {
    is_later &= value >= earlier;
    value -= earlier;
  };
  for (std::size_t cpu = 0; cpu < now.size(); ++cpu) {
    const GroupReading& earlier = before[cpu];
    if (now[cpu].counts.size() != earlier.counts.size()) return std::nullopt;
    subtract(difference[cpu].enabled_ns, earlier.enabled_ns);
    subtract(difference[cpu].running_ns, earlier.running_ns);
    for (std::size_t i = 0; i < earlier.counts.size(); ++i) subtract(difference[cpu].counts[i], earlier.counts[i]);
  }
  return is_later ? std::optional(std::move(difference)) : std::nullopt;
}

Estimate estimate(std::span<const GroupReading> cpus, double min_ratio) {
  double enabled = 0, running = 0, accepted_enabled = 0;
  std::vector<double> counts;
  for (const GroupReading& cpu : cpus) {
    enabled += number(cpu.enabled_ns);
    running += number(std::min(cpu.running_ns, cpu.enabled_ns));
    if (cpu.enabled_ns == 0 || !is_accepted(cpu, min_ratio)) continue;
    accepted_enabled += number(cpu.enabled_ns);
    counts.resize(std::max(counts.size(), cpu.counts.size()));
    const double scale = std::max(1.0, number(cpu.enabled_ns) / number(cpu.running_ns));
    for (std::size_t i = 0; i < cpu.counts.size(); ++i) counts[i] += number(cpu.counts[i]) * scale;
  }
  if (enabled == 0) return {};
  Estimate result{.verdict = Verdict::counted, .running_ratio = running / enabled};
  if (running == 0) {
    result.verdict = Verdict::not_scheduled;
  } else if (enabled - accepted_enabled > kMaxRejected * enabled) {
    result.verdict = Verdict::low_ratio;
  } else {
    for (double& count : counts) count *= enabled / accepted_enabled;
    result.counts = std::move(counts);
  }
  return result;
}

std::optional<double> ratio(std::optional<double> value, std::optional<double> per) {
  return value && per && *per > 0 ? std::optional(*value / *per) : std::nullopt;
}

}  // namespace koord::performance
