// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sys-resource/sys_resource.hpp"

#include <algorithm>
#include <unordered_set>

namespace koord::sys_resource {

void PodRoll::follow(const std::vector<Pod>& pods, std::uint64_t now_ns) {
  std::unordered_map<std::uint64_t, Entry> next;
  for (const Pod& pod : pods) {
    const auto known = entries_.find(pod.handle);
    // When a pod begins to run, its grace period begins again.
    const bool same = known != entries_.end() && known->second.runs == pod.runs;
    next.emplace(pod.handle, Entry{pod.runs, same ? known->second.since_ns : now_ns});
  }
  entries_ = std::move(next);
}

std::optional<double> PodRoll::sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const {
  double sum = 0;
  std::unordered_set<std::uint64_t> measured;
  for (const Sample& sample : samples) {
    if (!entries_.contains(sample.subject)) continue;
    sum += sample.value;
    measured.insert(sample.subject);
  }
  bool any_runs = false, any_measured = false;
  for (const auto& [handle, entry] : entries_) {
    if (!entry.runs) continue;
    any_runs = true;
    if (measured.contains(handle))
      any_measured = true;
    else if (now_ns < entry.since_ns + grace_ns_)
      return std::nullopt;
  }
  if (any_runs && !any_measured) return std::nullopt;
  return sum;
}

void ApplicationRoll::follow(std::size_t running, std::uint64_t now_ns) {
  if (running > running_) since_ns_ = now_ns;
  running_ = running;
}

std::optional<double> ApplicationRoll::sum(const std::vector<Sample>& samples, std::uint64_t now_ns) const {
  if (running_ == 0) return 0.0;
  if (samples.size() < running_ && now_ns < since_ns_ + grace_ns_) return std::nullopt;
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.value;
  return sum;
}

std::optional<double> rest(std::optional<double> whole, std::optional<double> pods,
                           std::optional<double> applications) {
  if (!whole || !pods || !applications) return std::nullopt;
  return std::max(*whole - *pods - *applications, 0.0);
}

std::map<std::uint32_t, double> numa_parts(double system_cores,
                                           const std::map<std::uint32_t, std::optional<double>>& used_cores) {
  double all = 0;
  for (const auto& [node, used] : used_cores) {
    if (!used) return {};
    all += *used;
  }
  std::map<std::uint32_t, double> parts;
  for (const auto& [node, used] : used_cores) parts[node] = all > 0 ? system_cores * *used / all : 0;
  return parts;
}

}  // namespace koord::sys_resource
