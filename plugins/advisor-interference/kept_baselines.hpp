// SPDX-License-Identifier: Apache-2.0
// Kept saves the baselines of an analysis over restarts of the agent, as a key of koord.kv/1. Header-only. Used on the
// plugin's strand.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/cpu_analysis.hpp"
#include "core/analysis/io_analysis.hpp"
#include "core/analysis/memory_analysis.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/left_out.hpp"

namespace koord::interference {

// Baselines of the CPU or of memory: the node's own baselines, and the baselines that the cluster offers for new
// workloads.
template <class OfResource, analysis::BaselineOf kResource>
struct KeptLevels {
  using Analysis = OfResource;
  static constexpr bool kIsCpu = kResource == analysis::BaselineOf::cpu;
  static constexpr const char* kKey = kIsCpu ? analysis::kBaselinesKey : analysis::kMemoryBaselinesKey;
  static constexpr const char* kOffered =
      kIsCpu ? analysis::kOfferedBaselinesKey : analysis::kOfferedMemoryBaselinesKey;

  std::string text_of(const Analysis& analysis, Time now) const {
    return analysis::write_baselines(analysis.save(now), analysis::kMaxSavedBytes, kResource);
  }
  analysis::ReadBaselines restore(Analysis& analysis, std::string_view text, Time now) const {
    analysis::ReadBaselines read = analysis::read_baselines(text, kResource);
    analysis.restore(read.baselines, now);
    return read;
  }
  std::vector<std::string> adopt(Analysis& analysis, std::string_view text, Time now) const {
    const analysis::ReadBaselines read = analysis::read_baselines(text, kResource);
    analysis.adopt(read.baselines, now);
    return read.problems;
  }
};

// Baselines of latencies. A latency belongs to a device of the node, so the cluster offers none.
struct KeptLatencies {
  using Analysis = analysis::IoAnalysis;
  static constexpr const char* kKey = analysis::kLatenciesKey;

  std::string text_of(const Analysis& analysis, Time now) const {
    std::vector<analysis::SavedLatency> all = analysis.save(now);
    for (analysis::SavedLatency& one : all) one.device_name = device_name(one.device);
    return analysis::write_latencies(std::move(all));
  }
  // Restores the saved latencies. Latencies of a device that has another name now are dropped.
  analysis::ReadLatencies restore(Analysis& analysis, std::string_view text, Time now) const {
    analysis::ReadLatencies read = analysis::read_latencies(text);
    std::erase_if(read.latencies, [this](const auto& one) { return device_name(one.device) != one.device_name; });
    analysis.restore(read.latencies, now);
    return read;
  }

  std::function<std::string(std::uint32_t)> device_name;
};

template <class Form>
class Kept {
 public:
  using Analysis = typename Form::Analysis;
  static constexpr const char* kKey = Form::kKey;

  Kept(const koord_host* host, Duration interval, Form form = {})
      : kv_(host), interval_(interval), form_(std::move(form)) {}

  void set_interval(Duration interval) { interval_ = interval; }

  // Restores once, in the first window. After a failure the next call tries again. Returns problems with single
  // workloads, as texts for the log.
  std::vector<std::string> restore_once(Analysis& analysis, Time now) {
    if (is_restored_) return {};
    const std::string text = kv_.get(kKey).value_or("");
    is_restored_ = true;
    saved_ = now;
    const auto read = form_.restore(analysis, text, now);
    return left_out(kv_, kKey, read.problems, read.unread);
  }

  // Adopts the baselines that the cluster offers, for workloads that are new on this node. Call it after
  // restore_once(). Returns problems with single workloads, as texts for the log.
  std::vector<std::string> adopt_offered(Analysis& analysis, Time now) {
    std::string text = kv_.get(Form::kOffered).value_or("");
    if (!is_restored_ || text == offered_) return {};
    offered_ = std::move(text);
    return as_left_out(Form::kOffered, form_.adopt(analysis, offered_, now));
  }

  void save_if_due(const Analysis& analysis, Time now) {
    if (now - saved_ >= interval_) save(analysis, now);
  }

  // Saves the baselines. Does nothing before they were restored, because the stored ones would be lost.
  void save(const Analysis& analysis, Time now) {
    if (!is_restored_) return;
    saved_ = now;
    kv_.set(kKey, form_.text_of(analysis, now));
  }

 private:
  plugin::Kv kv_;
  Duration interval_;
  Form form_;
  bool is_restored_ = false;
  std::string offered_;
  Time saved_{};
};

using KeptBaselines = Kept<KeptLevels<analysis::CpuAnalysis, analysis::BaselineOf::cpu>>;
using KeptMemory = Kept<KeptLevels<analysis::MemoryAnalysis, analysis::BaselineOf::memory>>;
using KeptBlockIo = Kept<KeptLatencies>;

}  // namespace koord::interference
