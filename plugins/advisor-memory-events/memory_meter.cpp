// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/memory_meter.hpp"

#include <utility>

#include "plugins/shared/sdk/if_known.hpp"

namespace koord::memory_events {
namespace {

// Adds a value. A series is created with its first value.
void add(const plugin::Metric& metric, std::uint64_t subject, std::uint64_t& series, std::int64_t value,
         plugin::Batch& batch) {
  if (series == 0) series = metric.series(subject);
  batch.add(series, static_cast<double>(value));
}

}  // namespace

MemoryMeter::MemoryMeter(const LevelMetrics& metrics, const plugin::Subject& subject, std::shared_ptr<Kills> pod,
                         bool from_now)
    : metrics_(&metrics),
      subject_(subject.handle),
      is_pod_(subject.is_pod()),
      from_now_(from_now),
      pod_(std::move(pod)),
      events_("memory.events", {"oom_kill", "max", "high"}) {}

void MemoryMeter::read(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                       std::uint64_t now_ns) {
  reading_.reset();
  reading_ = events_.read(host, cgroup, dir, now_ns);
}

void MemoryMeter::log(bool below) {
  below ? kills().log_below() : kills().log_own();
  if (!is_pod_ && pod_) pod_->log_in_container();
}

std::int64_t MemoryMeter::report(plugin::Batch& batch) {
  std::optional<std::int64_t> counted;
  bool subtree = false;
  if (reading_) {
    counted = plugin::if_known(reading_->values[kOomKill]);
    subtree = plugin::if_known(reading_->values[kHigh]).has_value();  // v1 has no such event
    if (!is_pod_)
      if (auto hits = plugin::if_known(reading_->values[kMax]))
        add(metrics_->limit_hits, subject_, hits_series_, *hits, batch);
    if (!is_pod_ && subtree) add(metrics_->high_events, subject_, high_series_, reading_->values[kHigh], batch);
  }
  kills().update(counted, subtree);
  const std::optional<std::int64_t> total = kills().total();
  if (!total) return 0;
  add(metrics_->oom_kills, subject_, kills_series_, *total, batch);
  if (!is_pod_ && pod_) pod_->add_of_containers(*total - std::exchange(passed_on_, *total));
  if (std::exchange(from_now_, false)) unreported_.skip(kills().unexplained());
  return unreported_.take(kills().unexplained(), is_pod_);
}

}  // namespace koord::memory_events
