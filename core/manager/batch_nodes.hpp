// SPDX-License-Identifier: Apache-2.0
// BatchNodes: the batch and mid resources of all nodes: from Nodes, Pods, NodeMetrics and the colocation settings to
// patches of Nodes. A report may come from any source: the watch of NodeMetrics, or reports that the aggregated API
// receives; both call take_metric(). Pure: the time is passed in; controllers.hpp sends the patches. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/manager/batch_grant.hpp"
#include "core/manager/batch_resources.hpp"
#include "core/manager/node_facts.hpp"
#include "core/manager/write_bounds.hpp"

namespace koord::manager {

class BatchNodes {
 public:
  // The part of GrantRules that the colocation settings do not have.
  struct Options {
    Duration fast = GrantRules{}.fast;
    Duration grace = GrantRules{}.grace;
    double withdraw_threshold = GrantRules{}.withdraw_threshold;
    WriteBounds::Limits bounds = {};
  };

  explicit BatchNodes(const Options& options) : options_(options), bounds_(options.bounds) {}

  // Without settings for colocation at all (`has_settings` false) no node is touched.
  void set_colocation(Time now, const ColocationSettings& settings, bool has_settings);
  // `version`: the Node's resourceVersion as a number; 0: unknown. An older one than that of our last patch is ignored.
  void take_node(Time now, const state::Node& node, std::uint64_t version = 0);
  // Its pods are kept for the time when it returns: they may not be passed in again.
  void remove_node(const std::string& name);
  void take_pod(Time now, PodFacts pod);
  void remove_pod(Time now, const std::string& name);
  // `wall_ns`: our wall clock, which decides whether the first report of a node is recent.
  void take_metric(Time now, std::int64_t wall_ns, const std::string& node, NodeUsage usage);
  void remove_metric(const std::string& node);

  struct Patch {
    std::string node;
    std::string body;  // merge patch of the status
  };
  // The next patch, begun with this call; several may run, of different nodes.
  std::optional<Patch> next(Time now);
  // `version`: of the patched Node, as in take_node().
  void ended(Time now, const std::string& node, bool done, std::uint64_t version = 0);
  // The silence of nodes counts from now on at the earliest: we have just begun to lead, or to see again.
  void restart(Time now, std::int64_t wall_ns);
  // This replica no longer leads. The one that does may change its writes.
  void forget_writes();

  struct Counts {
    std::uint64_t granted = 0, withdrawn = 0, removed = 0, failed = 0;
  };
  const Counts& counts() const { return counts_; }
  const WriteBounds& bounds() const { return bounds_; }
  std::size_t known() const { return nodes_.size(); }  // nodes that exist, or have pods or a report
  std::map<BatchGrant::Freshness, std::size_t> freshness(Time now) const;
  // Problems with nodes' annotations and labels, of the nodes that have any, a line each; at most 16.
  std::vector<std::string> problems() const;

 private:
  struct Pair {
    explicit Pair(Time now) : grant(now) {}

    BatchGrant grant;
    std::optional<CpuMemory> published;  // as the node has it
    std::optional<CpuMemory> wanted;     // as we wrote it last
    bool was_written = false;
  };
  struct One {
    explicit One(Time now) : batch(now), mid(now) {}

    bool exists = false;
    state::Node node;
    NodeSize size;
    Colocation colocation;
    GrantRules rules;
    std::vector<std::string> problems;
    std::map<std::string, PodFacts, std::less<>> pods;
    std::optional<NodeUsage> usage;
    bool is_recent = false;  // of the first usage
    Pair batch, mid;
    std::uint64_t version = 0;
    bool running = false;
    std::vector<Offer> offers;  // that run
    Time not_before = Time::min();
  };

  One& node_of(Time now, const std::string& name);
  void erase_unused(std::map<std::string, One>::iterator node);
  static bool is_recent(const One& one, std::int64_t wall_ns);
  void settle(One& one);
  void compute(Time now, One& one);
  void check_overwritten(Time now, const std::string& name, Pair& pair, const std::optional<CpuMemory>& before);
  void add_offer(Time now, One& one, Pair& pair, const ResourcePair& names, std::vector<Offer>& offers);
  bool count(const Offer& offer, const Pair& pair);
  std::vector<Offer> offers_of(Time now, One& one);

  const Options options_;
  WriteBounds bounds_;
  ColocationSettings settings_;
  bool has_settings_ = false;
  std::map<std::string, One> nodes_;
  std::map<std::string, std::string> node_of_pod_;
  std::string next_;  // the node to look at next, by name
  Counts counts_;
};

}  // namespace koord::manager
