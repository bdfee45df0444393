// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/kubelet_durations.hpp"

#include "core/base/to_seconds.hpp"

namespace koord::agentd {

void KubeletDurations::observe(std::string_view path, unsigned status, Duration took) {
  const double seconds = to_seconds(took);
  const Key key{path, status == 0 ? "error" : std::to_string(status)};
  metrics_
      .histogram("host_kubelet_request_duration_seconds",
                 "Duration of the kubelet's answers, in seconds; code error: no answer.",
                 {kBounds.begin(), kBounds.end()}, {{"verb", "get"}, {"path", key.first}, {"code", key.second}})
      .observe(seconds);
  std::lock_guard lock(mutex_);
  Histogram& histogram = histograms_[key];
  for (std::size_t i = 0; i < kBounds.size(); ++i) histogram.at_most[i] += seconds <= kBounds[i];
  ++histogram.count;
  histogram.sum += seconds;
}

std::map<KubeletDurations::Key, KubeletDurations::Histogram> KubeletDurations::all() const {
  std::lock_guard lock(mutex_);
  return histograms_;
}

}  // namespace koord::agentd
