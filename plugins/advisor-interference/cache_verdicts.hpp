// SPDX-License-Identifier: Apache-2.0
// CacheVerdicts: verdicts about caches and memory bandwidth. Reads them from a source of counters and posts them to the
// host. On the plugin's strand.
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
  static constexpr const char* kKey = "baselines/cache";  // key of koord.kv/1
  static constexpr Duration kSaveInterval = std::chrono::minutes(1);

  // Uses the counters of this node. Returns null if the node has none or the setting is off; the capability
  // "verdict.cache" has the reason.
  static std::unique_ptr<CacheVerdicts> open(const koord_host* host, const NodeRoots& roots,
                                             const CacheSettings& settings, plugin::Metric interference);

  // `detail`: text of the capability. `interference`: metric for standing verdicts.
  CacheVerdicts(const koord_host* host, std::unique_ptr<CounterSource> source, const analysis::CacheRules& rules,
                std::string detail, plugin::Metric interference);

  // Posts the standing verdicts, and returns verdicts that were confirmed or cleared. Call it at least once in each
  // window of 5 s. Sandboxes are ignored, because they do no work.
  std::vector<analysis::VerdictEvent> collect(Time now, std::vector<KnownContainer> containers);
  void report(plugin::Batch& batch);
  // Saves the baselines of workloads for the next start.
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
  std::optional<Time> last_, saved_;               // nullopt: no window yet, stored record not read
  std::map<std::uint64_t, std::uint64_t> series_;  // key: the container's handle
};

}  // namespace koord::interference
