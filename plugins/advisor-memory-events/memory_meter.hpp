// SPDX-License-Identifier: Apache-2.0
// MemoryMeter: the counters of memory events of a pod's or container's cgroup, and their series. Used on the plugin's
// strand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-memory-events/memory_events.hpp"

namespace koord::memory_events {

// Metrics of one level, pod or container.
struct LevelMetrics {
  plugin::Metric oom_kills, limit_hits, high_events;
};

class MemoryMeter {
 public:
  // `pod`: the kills of the pod, to which its containers add; null outside of pods. `from_now`: events before the first
  // read of the counters are ignored.
  MemoryMeter(const LevelMetrics& metrics, const plugin::Subject& subject, std::shared_ptr<Kills> pod, bool from_now);

  std::uint64_t subject() const { return subject_; }
  bool is_pod() const { return is_pod_; }

  // Throws Failure if the counters exist but cannot be read. In that case they count as missing.
  void read(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir, std::uint64_t now_ns);

  // Adds a kill from the log: in the cgroup itself, or below it.
  void log(bool below);

  // Adds the values to the batch. Call it after counters and log were read, for containers before their pods. Returns
  // the number of new kills that are missing in the log.
  std::int64_t report(plugin::Batch& batch);

 private:
  static constexpr std::size_t kOomKill = 0, kMax = 1, kHigh = 2;

  Kills& kills() { return is_pod_ ? *pod_ : own_; }

  const LevelMetrics* metrics_;
  std::uint64_t subject_;
  bool is_pod_, from_now_;
  std::shared_ptr<Kills> pod_;
  Kills own_;
  UnreportedKills unreported_;
  std::int64_t passed_on_ = 0;  // kills already added to the kills of the pod
  plugin::CgroupValues<3> events_;
  std::optional<plugin::CgroupValues<3>::Reading> reading_;
  std::uint64_t kills_series_ = 0, hits_series_ = 0, high_series_ = 0;
};

}  // namespace koord::memory_events
