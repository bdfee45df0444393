// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-latency/memory_series.hpp"

namespace koord::memory_latency {

MemoryMetrics::MemoryMetrics(const koord_host* host, const std::string& level, bool has_histogram)
    : stalled(host, {level + "_memory_stall_seconds_total", "seconds",
                     "Time that the threads of a " + level +
                         " spent, instead of going on, in reclaim or compaction of "
                         "memory, by the kind, in seconds.",
                     1e-6, KOORD_COUNTER}),
      ratio(host,
            {level + "_memory_stall_ratio", "ratio",
             "Threads of a " + level + " that reclaim or compaction of memory held up in the last period, on average.",
             1e-4}),
      latency(host, {level + "_memory",
                     "the threads of a " + level + " were held up at a time by reclaim or compaction of memory",
                     {99},
                     has_histogram}) {}

MemorySeries::MemorySeries(const MemoryMetrics& metrics, std::uint64_t subject)
    : ratio_(metrics.ratio.series(subject)), latency_(metrics.latency, subject) {
  for (Kind kind : kKinds)
    stalled_[static_cast<std::size_t>(kind)] = metrics.stalled.series(subject, {{"kind", name_of(kind)}});
}

void MemorySeries::report(const Stalls& window, std::optional<std::uint64_t> length_ns, plugin::Batch& batch,
                          latency::CumulativeCounts& counts) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    total_ns_[i] += window.by_kind[i].sum_ns;
    batch.add(stalled_[i], static_cast<double>(total_ns_[i]) * 1e-9);
  }
  const latency::Histogram all = window.all();
  if (length_ns && *length_ns > 0) batch.add(ratio_, static_cast<double>(all.sum_ns) / static_cast<double>(*length_ns));
  latency_.report(all, batch, counts);
}

}  // namespace koord::memory_latency
