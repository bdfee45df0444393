// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/gpu_usage.hpp"

#include <algorithm>

namespace koord::gpu {
namespace {

// Some drivers return samples with numbers that are no percentage.
constexpr double kMostPercent = 100;

void add_known(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

}  // namespace

void Usage::add(const Usage& other) {
  add_known(core_percent, other.core_percent);
  add_known(memory_bytes, other.memory_bytes);
}

void ProcessLoad::update(const std::optional<std::vector<ProcessSample>>& samples, std::uint64_t now_ns) {
  is_known_ = samples.has_value();
  if (!is_known_) return loads_.clear();
  std::erase_if(loads_, [&](const auto& entry) { return now_ns - entry.second.seen_ns > kGoodForNs; });
  for (const ProcessSample& sample : *samples) {
    newest_us_ = std::max(newest_us_, sample.time_stamp_us);
    if (sample.sm_percent > kMostPercent) continue;
    const auto known = loads_.find(sample.pid);
    if (known != loads_.end() && known->second.time_stamp_us > sample.time_stamp_us) continue;
    loads_.insert_or_assign(sample.pid, Load{sample.sm_percent, sample.time_stamp_us, now_ns});
  }
}

Usage ProcessLoad::of(const Process& process) const {
  Usage usage{.core_percent = std::nullopt, .memory_bytes = std::nullopt};
  if (process.memory_bytes) usage.memory_bytes = static_cast<double>(*process.memory_bytes);
  const auto load = loads_.find(process.pid);
  if (is_known_) usage.core_percent = load == loads_.end() ? 0 : load->second.percent;
  return usage;
}

}  // namespace koord::gpu
