// SPDX-License-Identifier: Apache-2.0
// OtherResources: the verdicts about block I/O and memory. If the kernel lacks something for one of the two resources,
// the other resource still works, and the capability of the first has the reason. On the plugin's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/node_roots.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/block_windows.hpp"
#include "plugins/advisor-interference/memory_windows.hpp"
#include "plugins/advisor-interference/rule_in_force.hpp"
#include "plugins/advisor-interference/verdict_post.hpp"

namespace koord::interference {

using LookedAt = decltype(Details::looked_at);

class OtherResources {
 public:
  // A verdict that was confirmed or cleared.
  struct Event {
    std::string_view resource;  // value of its label
    std::string device;         // only for blkio: "vda"
    analysis::VerdictEvent event;
  };

  // Loads the programs; set the marker before. `interference`: metric for standing verdicts.
  OtherResources(const koord_host* host, const cgroup::Layout& layout, const NodeRoots& roots, const std::string& btf,
                 plugin::Metric interference, Duration window, const RuleInForce& rule);
  ~OtherResources();

  // Sets the rules from the next window on. Standing verdicts end.
  std::vector<Event> set_rules(const RuleInForce& rule);

  // Restores the saved baselines once and, if requested, adopts the baselines that the cluster offers. Call it before
  // collect(). Returns problems with single workloads.
  std::vector<std::string> restore(Time now, bool takes_offered);
  void save_if_due(Time now);
  void save(Time now);

  // Evaluates a window; call it once in each window. `refreshes`: searches the cgroups of the containers again.
  std::vector<Event> collect(Time now, double seconds, const std::vector<KnownContainer>& containers, bool refreshes);
  // Call it instead of collect() for a window that is not judged, so its events are not counted in the next window.
  void skip(const std::vector<KnownContainer>& containers, bool refreshes);
  void report(plugin::Batch& batch);
  // Posts the standing verdicts. `looked_at`: as in Details. `requested_memory`: request of a container, in bytes.
  void post(const LookedAt& looked_at, const std::function<double(std::uint64_t)>& requested_memory);
  // Adds the findings of the last window about this container, except for resources with a verdict about it.
  void add_looked_at(std::uint64_t handle, std::vector<std::pair<std::string, std::string>>& found) const;

 private:
  struct BlockPart;
  struct MemoryPart;
  struct Windows;
  // The series of a container by kind.
  using Series = std::map<analysis::Kind, std::uint64_t>;

  Event block_event(analysis::VerdictEvent event) const;
  void report_capability(std::string_view name, const Result<void>& opened, std::string_view method) const;
  Result<void> open_block(const NodeRoots& roots, const std::string& btf, const RuleInForce& rule);
  Result<void> open_memory(const NodeRoots& roots, const std::string& btf, const RuleInForce& rule);
  Windows next(const std::vector<KnownContainer>& containers, double seconds, bool refreshes);
  void report(plugin::Batch& batch, std::string_view resource, const std::vector<analysis::Verdict>& verdicts);

  const koord_host* host_;
  cgroup::Layout layout_;
  std::string sys_;
  plugin::Metric interference_;
  VerdictPost latencies_, io_limits_, refaults_;
  std::unique_ptr<BlockPart> block_;
  std::unique_ptr<MemoryPart> memory_;
  std::vector<std::uint64_t> handles_;  // handles of the containers in the last window
  std::unique_ptr<Windows> last_;
  std::map<std::pair<std::string_view, std::uint64_t>, Series> series_;
};

}  // namespace koord::interference
