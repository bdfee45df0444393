// SPDX-License-Identifier: Apache-2.0
// KeptBaselines keeps what an analysis knows of workloads over restarts of the agent, as the key "baselines/cpu" of
// koord.kv/1. Header-only. Used on the plugin's strand.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/cpu_analysis.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

class KeptBaselines {
 public:
  static constexpr const char* kKey = analysis::kBaselinesKey;

  KeptBaselines(const koord_host* host, Duration interval) : kv_(host), interval_(interval) {}

  void set_interval(Duration interval) { interval_ = interval; }

  // In the first window; what fails is tried again in the next one. Returns problems with single workloads.
  std::vector<std::string> restore_once(analysis::CpuAnalysis& analysis, Time now) {
    if (is_restored_) return {};
    const analysis::ReadBaselines read = analysis::read_baselines(kv_.get(kKey).value_or(""));
    is_restored_ = true;
    saved_ = now;
    analysis.restore(read.baselines, now);
    return read.problems;
  }

  // Takes what the agent has from the cluster for workloads that are new here. After restore_once(). Returns problems
  // with single workloads.
  std::vector<std::string> adopt_offered(analysis::CpuAnalysis& analysis, Time now) {
    std::string text = kv_.get(analysis::kOfferedBaselinesKey).value_or("");
    if (!is_restored_ || text == offered_) return {};
    offered_ = std::move(text);
    const analysis::ReadBaselines read = analysis::read_baselines(offered_);
    analysis.adopt(read.baselines, now);
    return read.problems;
  }

  void save_if_due(const analysis::CpuAnalysis& analysis, Time now) {
    if (now - saved_ >= interval_) save(analysis, now);
  }

  // Not before they were restored: those that are kept would be lost.
  void save(const analysis::CpuAnalysis& analysis, Time now) {
    if (!is_restored_) return;
    saved_ = now;
    kv_.set(kKey, analysis::write_baselines(analysis.save(now)));
  }

 private:
  plugin::Kv kv_;
  Duration interval_;
  bool is_restored_ = false;
  std::string offered_;
  Time saved_{};
};

}  // namespace koord::interference
