// SPDX-License-Identifier: Apache-2.0
// CacheVerdicts: the verdicts about caches and memory bandwidth, from a source of counters to the host. On the plugin's
// strand.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/node_roots.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/cache_settings.hpp"
#include "plugins/advisor-interference/cache_windows.hpp"
#include "plugins/advisor-interference/verdict_post.hpp"

namespace koord::interference {

class CacheVerdicts {
 public:
  static constexpr const char* kKey = "baselines/cache";  // in koord.kv/1
  static constexpr Duration kSaveInterval = std::chrono::minutes(1);

  // With the counters of this node. Null: it has none, or the setting is off; the capability "verdict.cache" says why.
  static std::unique_ptr<CacheVerdicts> open(const koord_host* host, const NodeRoots& roots,
                                             const CacheSettings& settings, plugin::Metric interference);

  // `detail`: of the capability. `interference`: the metric for verdicts that stand.
  CacheVerdicts(const koord_host* host, std::unique_ptr<CounterSource> source, const analysis::CacheRules& rules,
                std::string detail, plugin::Metric interference);

  // At least once in each window of 5 s. Posts the verdicts that stand; returns those that were confirmed or cleared.
  // Sandboxes do nothing, and are not counted.
  std::vector<analysis::VerdictEvent> collect(Time now, std::vector<KnownContainer> containers);
  void report(plugin::Batch& batch);
  // Keeps what it knows of workloads over a restart.
  void stop(Time now);

 private:
  void report_capability(std::uint32_t state, const std::string& detail);
  void report_state();
  void restore_once(Time now);
  void save(Time now);

  const koord_host* host_;
  std::unique_ptr<CounterSource> source_;
  CacheWindows windows_;
  analysis::CacheAnalysis analysis_;
  std::string detail_, reported_;
  plugin::Metric interference_;
  plugin::Kv kv_;
  VerdictPost posts_;
  std::optional<Time> last_, saved_;               // nothing: no window yet, and the kept record was not read
  std::map<std::uint64_t, std::uint64_t> series_;  // by the container's handle
};

}  // namespace koord::interference
