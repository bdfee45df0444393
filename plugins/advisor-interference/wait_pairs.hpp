// SPDX-License-Identifier: Apache-2.0
// WaitPairs: the matrix "which container waits for which" of each window, as a metric that is not on /metrics. Each
// series has a victim as its subject and names a culprit. Only the pairs with the longest waits are kept. Used on the
// plugin's strand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/cpu_analysis.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/verdict_text.hpp"

namespace koord::interference {

// A victim, and what it waited for.
struct WaitPair {
  analysis::Subject victim = 0;
  std::string kind;     // "container", "outside", "kernel", "self", "throttled", "unexplained"
  std::string culprit;  // display name: the container's name, "kernel threads", …
  double waited = 0;    // seconds per second

  bool operator==(const WaitPair&) const = default;
};

// Returns at most `most` pairs of a window, the longest wait first.
std::vector<WaitPair> longest_pairs(const std::vector<analysis::CpuSubject>& subjects, const NameOf& name_of,
                                    std::size_t most);

class WaitPairs {
 public:
  static constexpr std::size_t kMostPairs = 256;
  // A pair's series ends after this many windows without a wait.
  static constexpr int kIdleWindows = 60;

  WaitPairs() = default;
  WaitPairs(const koord_host* host, std::string resource);

  // Adds a point for each pair; 0 for an earlier pair without a wait in this window.
  void report(const std::vector<analysis::CpuSubject>& subjects, const NameOf& name_of, plugin::Batch& batch);

 private:
  struct Key {
    analysis::Subject victim = 0;
    std::string kind, culprit;
    auto operator<=>(const Key&) const = default;
  };
  struct Series {
    std::uint64_t id = 0;
    int idle = 0;  // number of windows without a wait
  };

  // Returns 0 if the victim has ended.
  std::uint64_t series_of(const Key& key) const;
  void end_idle();

  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::string resource_;
  plugin::Metric metric_;
  std::map<Key, Series> series_;
};

}  // namespace koord::interference
