// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_nodes.hpp"

#include <algorithm>
#include <utility>

#include "core/state/node_metric_spec.hpp"

namespace koord::manager {
namespace {

constexpr Duration kRetry = std::chrono::seconds(5);
constexpr std::size_t kMostProblems = 16;

GrantRules rules_of(const Colocation& colocation, const BatchNodes::Options& options) {
  GrantRules rules;
  rules.aggregate = colocation.aggregate;
  rules.report = std::max(colocation.report, state::kLeastReportInterval);
  rules.degrade = colocation.degrade;
  rules.write_period = colocation.write_period;
  rules.grant_threshold = colocation.diff_threshold;
  rules.fast = options.fast;
  rules.grace = options.grace;
  rules.withdraw_threshold = options.withdraw_threshold;
  return rules;
}

}  // namespace

BatchNodes::One& BatchNodes::node_of(Time now, const std::string& name) {
  return nodes_.try_emplace(name, now).first->second;
}

void BatchNodes::erase_unused(std::map<std::string, One>::iterator node) {
  const One& one = node->second;
  if (!one.exists && one.pods.empty() && !one.usage) nodes_.erase(node);
}

// Computes the settings of a node from the ConfigMap and the node's labels and annotations.
void BatchNodes::settle(One& one) {
  NodeColocation own = settings_.of_node(one.node.labels, one.node.annotations);
  one.problems = std::move(own.problems);
  one.colocation = std::move(own.settings);
  one.rules = rules_of(one.colocation, options_);
  one.size = node_size(one.node, one.problems);
}

void BatchNodes::compute(Time now, One& one) {
  if (!one.usage || one.usage->update_time.empty() || !one.exists) return;
  const NodeUsage& usage = *one.usage;
  const Demand demand = demand_of(one.pods, usage);
  one.batch.grant.report(now, usage.update_time, one.is_recent, usage.window,
                         batch_resources(one.size, one.colocation, demand, usage), one.rules);
  one.mid.grant.report(now, usage.update_time, one.is_recent, usage.window,
                       mid_resources(one.size, one.colocation, demand, usage), one.rules);
}

void BatchNodes::set_colocation(Time now, const ColocationSettings& settings, bool has_settings) {
  settings_ = settings;
  has_settings_ = has_settings;
  for (auto& [name, one] : nodes_) {
    settle(one);
    compute(now, one);
  }
}

void BatchNodes::check_overwritten(Time now, const std::string& name, Pair& pair,
                                   const std::optional<CpuMemory>& before) {
  if (!pair.was_written || pair.published == pair.wanted || pair.published == before) return;
  bounds_.overwritten(name, "", now);
}

void BatchNodes::take_node(Time now, const state::Node& node, std::uint64_t version) {
  One& one = node_of(now, node.name);
  if (version != 0 && version < one.version) return;
  one.version = std::max(one.version, version);
  if (!std::exchange(one.exists, true))
    for (Pair* pair : {&one.batch, &one.mid}) pair->grant = BatchGrant(now);
  one.node = node;
  settle(one);
  for (auto [pair, names] : {std::pair(&one.batch, &kBatch), std::pair(&one.mid, &kMid)}) {
    const std::optional<CpuMemory> before = std::exchange(pair->published, published(node, *names));
    if (!one.running) check_overwritten(now, node.name, *pair, before);
  }
  compute(now, one);
}

void BatchNodes::remove_node(const std::string& name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  One rest(Time{});  // keeps the pods; grants start again when the node returns
  rest.pods = std::move(found->second.pods);
  found->second = std::move(rest);
  erase_unused(found);
  bounds_.forget(name);
}

void BatchNodes::take_pod(Time now, PodFacts pod) {
  if (const auto known = node_of_pod_.find(pod.name); known != node_of_pod_.end() && known->second != pod.node)
    remove_pod(now, pod.name);
  if (pod.node.empty()) return;
  node_of_pod_[pod.name] = pod.node;
  One& one = node_of(now, pod.node);
  const std::string name = pod.name;
  one.pods.insert_or_assign(name, std::move(pod));
  compute(now, one);
}

void BatchNodes::remove_pod(Time now, const std::string& name) {
  const auto known = node_of_pod_.find(name);
  if (known == node_of_pod_.end()) return;
  if (const auto node = nodes_.find(known->second); node != nodes_.end()) {
    node->second.pods.erase(name);
    compute(now, node->second);
    erase_unused(node);
  }
  node_of_pod_.erase(known);
}

// Returns whether the report is not older than `stale_periods` reporting periods. A time in the future is not evidence
// of a recent report.
bool BatchNodes::is_recent(const One& one, std::int64_t wall_ns) {
  const std::int64_t longest = (one.rules.report * one.rules.stale_periods).count();
  const std::optional<std::int64_t> at = one.usage ? one.usage->update_ns : std::nullopt;
  return at && *at > wall_ns - longest && *at < wall_ns + longest;
}

void BatchNodes::take_metric(Time now, std::int64_t wall_ns, const std::string& node, NodeUsage usage) {
  One& one = node_of(now, node);
  if (!one.usage) one.first_usage = now;
  one.usage = std::move(usage);
  one.is_recent = is_recent(one, wall_ns);
  compute(now, one);
}

void BatchNodes::remove_metric(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.usage.reset();
  erase_unused(found);
}

std::vector<std::string> BatchNodes::remove_unknown(Time now) {
  std::vector<std::string> removed;
  for (auto next = nodes_.begin(); next != nodes_.end();) {
    const auto node = next++;
    One& one = node->second;
    if (one.exists || !one.usage || now < later(one.first_usage, options_.keep_unknown)) continue;
    removed.push_back(node->first);
    one.usage.reset();
    erase_unused(node);
  }
  return removed;
}

void BatchNodes::restart(Time now, std::int64_t wall_ns) {
  for (auto& [name, one] : nodes_) {
    for (Pair* pair : {&one.batch, &one.mid}) pair->grant = BatchGrant(now);
    one.is_recent = is_recent(one, wall_ns);
    compute(now, one);
  }
}

void BatchNodes::forget_writes() {
  for (auto& [name, one] : nodes_)
    for (Pair* pair : {&one.batch, &one.mid}) pair->was_written = false;
  bounds_.forget_all();
}

void BatchNodes::add_offer(Time now, One& one, Pair& pair, const ResourcePair& names, std::vector<Offer>& offers) {
  using Decide = BatchGrant::Decision::Do;
  if (!one.colocation.enable) {
    if (pair.published) offers.push_back({names, std::nullopt});
    return;
  }
  const BatchGrant::Decision decision = pair.grant.decide(now, pair.published, one.rules);
  // A node without the resources needs no write that sets them to zero.
  const bool is_nothing = !pair.published && decision.amount == CpuMemory{};
  if (decision.what == Decide::publish && !is_nothing) offers.push_back({names, decision.amount});
  if (decision.what == Decide::remove) offers.push_back({names, std::nullopt});
}

std::vector<Offer> BatchNodes::offers_of(Time now, One& one) {
  std::vector<Offer> offers;
  add_offer(now, one, one.batch, kBatch, offers);
  add_offer(now, one, one.mid, kMid, offers);
  return offers;
}

std::optional<BatchNodes::Patch> BatchNodes::next(Time now) {
  if (!has_settings_) return std::nullopt;
  auto at = nodes_.lower_bound(next_);
  for (std::size_t i = 0; i < nodes_.size(); ++i, ++at) {
    if (at == nodes_.end()) at = nodes_.begin();
    auto& [name, one] = *at;
    if (!one.exists || one.running || now < one.not_before) continue;
    std::vector<Offer> offers = offers_of(now, one);
    if (offers.empty() || bounds_.may_write_at(name, now) > now) continue;
    next_ = name + '\0';
    one.running = true;
    one.offers = std::move(offers);
    return Patch{name, status_patch(one.offers)};
  }
  return std::nullopt;
}

// Counts an offer by kind. Returns whether it reduces a published amount.
bool BatchNodes::count(const Offer& offer, const Pair& pair) {
  const bool is_less = pair.published && offer.amount &&
                       (offer.amount->cpu < pair.published->cpu || offer.amount->memory < pair.published->memory);
  ++(!offer.amount ? counts_.removed : is_less ? counts_.withdrawn : counts_.granted);
  return is_less;
}

void BatchNodes::ended(Time now, const std::string& node, bool done, std::uint64_t version) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !found->second.running) return;
  One& one = found->second;
  one.running = false;
  const std::vector<Offer> offers = std::exchange(one.offers, {});
  if (!done) {
    ++counts_.failed;
    one.not_before = now + kRetry;
    return;
  }
  // A watch event may have arrived before the response, perhaps with a newer change by a different program.
  const bool has_newer = version != 0 && version < one.version;
  one.version = std::max(one.version, version);
  for (const Offer& offer : offers) {
    Pair& pair = offer.names.cpu == kBatch.cpu ? one.batch : one.mid;
    pair.grant.written(now, count(offer, pair));
    if (!has_newer) pair.published = offer.amount;
    pair.wanted = offer.amount;
    pair.was_written = true;
    if (pair.published != pair.wanted) bounds_.overwritten(node, "", now);
  }
}

std::map<BatchGrant::Freshness, std::size_t> BatchNodes::freshness(Time now) const {
  std::map<BatchGrant::Freshness, std::size_t> nodes;
  for (const auto& [name, one] : nodes_)
    if (one.exists) ++nodes[one.batch.grant.freshness(now, one.rules)];
  return nodes;
}

std::vector<std::string> BatchNodes::problems() const {
  std::vector<std::string> lines;
  for (const auto& [name, one] : nodes_)
    for (const std::string& problem : one.problems)
      if (lines.size() < kMostProblems) lines.push_back("node " + name + ": " + problem);
  return lines;
}

}  // namespace koord::manager
