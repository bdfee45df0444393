// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cpu_use.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using analysis::CpuWindow;
using analysis::Suspect;
using analysis::SuspectKind;

// Linux reports these times in ticks of USER_HZ, which is 100 for all programs.
constexpr std::uint64_t kTickNs = 10'000'000;

// Columns after the CPU's name: user nice system idle iowait irq softirq steal.
constexpr std::size_t kIdle = 3, kIoWait = 4, kSteal = 7, kColumns = 8;

std::optional<unsigned> cpu_of_line(std::string_view name) {
  if (!name.starts_with("cpu") || name.size() == 3) return std::nullopt;
  const Result<std::uint64_t> cpu = parse_uint(name.substr(3));
  if (!cpu || *cpu >= CpuSet::kMaxCpus) return std::nullopt;
  return static_cast<unsigned>(*cpu);
}

std::optional<UnusedCpu> unused_in(std::string_view columns) {
  std::uint64_t ticks[kColumns];
  for (std::uint64_t& column : ticks) {
    const auto word = next_word(columns);
    const Result<std::uint64_t> number = parse_uint(word.value_or(""));
    if (!number || *number > std::numeric_limits<std::uint64_t>::max() / 2 / kTickNs) return std::nullopt;
    column = *number;
  }
  return UnusedCpu{(ticks[kIdle] + ticks[kIoWait]) * kTickNs, ticks[kSteal] * kTickNs};
}

std::uint64_t grown(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

UnusedCpus parse_unused_cpus(std::string_view stat) {
  UnusedCpus cpus;
  while (const auto line = next_field(stat, '\n')) {
    std::string_view columns = *line;
    const auto cpu = cpu_of_line(next_word(columns).value_or(""));
    if (!cpu) continue;
    if (const auto unused = unused_in(columns)) cpus[*cpu] = *unused;
  }
  return cpus;
}

UnusedCpus added(const UnusedCpus& before, const UnusedCpus& now) {
  UnusedCpus cpus;
  for (const auto& [cpu, total] : now)
    if (const auto old = before.find(cpu); old != before.end())
      cpus[cpu] = {grown(old->second.idle_ns, total.idle_ns), grown(old->second.stolen_ns, total.stolen_ns)};
  return cpus;
}

CpuUse::CpuUse(const std::vector<CpuRun>& runs, const ContainerOfCgroup& container_of, UnusedCpus unused,
               double seconds)
    : unused_(std::move(unused)), seconds_(seconds) {
  for (const CpuRun& run : runs)
    if (const auto container = container_of.find(run.cgroup); container != container_of.end())
      runs_[container->second].emplace_back(run.cpu, run.ns);
}

void CpuUse::describe(CpuWindow& window, const CpuSet& cpus) const {
  const auto is_usable = [&](unsigned cpu) { return cpus.empty() || cpus.contains(cpu); };
  // The used time of the CPUs minus the time of all containers was used outside of pods.
  double rest = 0;
  window.idle = 0;
  for (const auto& [cpu, unused] : unused_) {
    if (!is_usable(cpu)) continue;
    window.idle += cpus_of(unused.idle_ns);
    rest += std::max(0.0, 1 - cpus_of(unused.idle_ns + unused.stolen_ns));
  }
  window.neighbours.clear();
  for (const auto& [container, runs] : runs_) {
    double used = 0;
    for (const auto& [cpu, ns] : runs)
      if (is_usable(cpu)) used += cpus_of(ns);
    rest -= used;
    if (container != window.subject && used > 0)
      window.neighbours.push_back({SuspectKind::container, container, 0, used});
  }
  if (rest > 0) window.neighbours.push_back({SuspectKind::outside, 0, 0, rest});
}

}  // namespace koord::interference
