// SPDX-License-Identifier: Apache-2.0
// BatchNodes: computes the batch and mid resources of all nodes. Its input are Nodes, Pods, NodeMetrics and the
// colocation settings; its output are patches of Nodes. A report comes from the watch of NodeMetrics or from the
// aggregated API; both call take_metric(). Pure: the time is passed in; controllers.hpp sends the patches. [one thread]
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
    Duration keep_unknown = std::chrono::minutes(1);  // reports of nodes that do not exist
    Duration fast = GrantRules{}.fast;
    Duration grace = GrantRules{}.grace;
    double withdraw_threshold = GrantRules{}.withdraw_threshold;
    WriteBounds::Limits bounds = {};
  };

  explicit BatchNodes(const Options& options) : options_(options), bounds_(options.bounds) {}

  // If `has_settings` is false (no settings for colocation), no node is changed.
  void set_colocation(Time now, const ColocationSettings& settings, bool has_settings);
  // `version`: the Node's resourceVersion as a number; 0: unknown. A Node that is older than the result of our last
  // patch is ignored.
  void take_node(Time now, const state::Node& node, std::uint64_t version = 0);
  // Keeps the node's pods for its return, because they may not be passed in again.
  void remove_node(const std::string& name);
  void take_pod(Time now, PodFacts pod);
  void remove_pod(Time now, const std::string& name);
  // `wall_ns`: our wall clock, which decides whether the first report of a node is recent.
  void take_metric(Time now, std::int64_t wall_ns, const std::string& node, NodeUsage usage);
  void remove_metric(const std::string& node);
  // Removes the reports of nodes that have not existed since their first report, at least Options::keep_unknown ago.
  // The delay is needed because a node may report before it is passed in. Returns the names. Call it periodically,
  // while all nodes are known.
  std::vector<std::string> remove_unknown(Time now);

  struct Patch {
    std::string node;
    std::string body;  // merge patch of the status
  };
  // Returns the next patch and marks it as running. Patches of different nodes may run at the same time.
  std::optional<Patch> next(Time now);
  // `version`: the version of the patched Node, as in take_node().
  void ended(Time now, const std::string& node, bool done, std::uint64_t version = 0);
  // Measures the silence of nodes from now on. Called when this replica begins to lead, or can read reports again.
  void restart(Time now, std::int64_t wall_ns);
  // Called when this replica no longer leads. After that, the new leader may change what this replica wrote.
  void forget_writes();

  struct Counts {
    std::uint64_t granted = 0, withdrawn = 0, removed = 0, failed = 0;
  };
  const Counts& counts() const { return counts_; }
  const WriteBounds& bounds() const { return bounds_; }
  std::size_t known() const { return nodes_.size(); }  // nodes that exist, or have pods or a report
  std::map<BatchGrant::Freshness, std::size_t> freshness(Time now) const;
  // Returns problems with annotations and labels of nodes, one line each; at most 16.
  std::vector<std::string> problems() const;

 private:
  struct Pair {
    explicit Pair(Time now) : grant(now) {}

    BatchGrant grant;
    std::optional<CpuMemory> published;  // amount in the Node now
    std::optional<CpuMemory> wanted;     // the amount that we wrote last
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
    Time first_usage{};
    bool is_recent = false;  // the first usage is recent
    Pair batch, mid;
    std::uint64_t version = 0;
    bool running = false;
    std::vector<Offer> offers;  // offers in the running patch
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
  std::string next_;  // name of the node that is checked next
  Counts counts_;
};

}  // namespace koord::manager
