// SPDX-License-Identifier: Apache-2.0
// OtherResources: the verdicts about block I/O and memory. A kernel that lacks something for one of them keeps the
// other, and the capability of the first names the reason. On the plugin's strand.
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
    std::string_view resource;  // as in labels
    std::string device;         // of blkio: "vda"
    analysis::VerdictEvent event;
  };

  // After the marker. `interference`: the metric for verdicts that stand.
  OtherResources(const koord_host* host, const cgroup::Layout& layout, const NodeRoots& roots, const std::string& btf,
                 plugin::Metric interference, Duration window, const RuleInForce& rule);
  ~OtherResources();

  // From the next window on. Standing verdicts end.
  std::vector<Event> set_rules(const RuleInForce& rule);

  // Before collect(): takes what was known before a restart, once, and, if asked to, what the cluster offers. Returns
  // problems with single workloads.
  std::vector<std::string> restore(Time now, bool takes_offered);
  void save_if_due(Time now);
  void save(Time now);

  // Once in each window. `look`: containers may have other cgroups than in the last one.
  std::vector<Event> collect(Time now, double seconds, const std::vector<KnownContainer>& containers, bool refreshes);
  // Instead, for a window that is not judged: takes what happened in it away from the next one.
  void skip(const std::vector<KnownContainer>& containers, bool refreshes);
  void report(plugin::Batch& batch);
  // Posts the verdicts that stand. `looked_at`: as in Details; `requested_memory`: of a container, in bytes.
  void post(const LookedAt& looked_at, const std::function<double(std::uint64_t)>& requested_memory);
  // Adds what the last window has of this container; of a resource with a verdict about it, nothing.
  void add_looked_at(std::uint64_t handle, std::vector<std::pair<std::string, std::string>>& found) const;

 private:
  struct BlockPart;
  struct MemoryPart;
  struct Windows;
  // The series of a container, by kind.
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
  std::vector<std::uint64_t> handles_;  // of the containers in the last window
  std::unique_ptr<Windows> last_;
  std::map<std::pair<std::string_view, std::uint64_t>, Series> series_;
};

}  // namespace koord::interference
