// SPDX-License-Identifier: Apache-2.0
// EvictStrategy: base class of the plugins that evict pods. It handles enabled features, the NodeSLO, the pods with
// their usage, the pause between two requests, and the request itself. A plugin returns the demands of its features
// from decide(). On the instance's strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/problem_tracker.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/shared/eviction/situation.hpp"
#include "plugins/shared/sdk/metric_query.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace koord::eviction {

// JSON Schema of the settings that every EvictStrategy reads: the members of `properties`, for settings::joined().
inline constexpr char kEvictSettings[] = R"(
    "coolDownSeconds": {"type": "integer", "minimum": 1, "maximum": 3600},
    "gates": {"type": "array", "items": {"type": "string"}})";

class EvictStrategy : public plugin::QosStrategy {
 public:
  struct Kind {
    Resource resource;
    std::string_view pod_metric;             // metric with the usage of a pod
    double pod_metric_scale;                 // factor from that metric to milli-cores or bytes
    std::vector<std::string_view> features;  // all features of the plugin
    std::int64_t cool_down_seconds;          // default pause between two requests
    bool cools_down_at_first;                // no pod is evicted before a first pause has passed
  };
  explicit EvictStrategy(Kind kind) : kind_(std::move(kind)) {}

  void init() override;
  void on_event(std::uint32_t what, std::uint64_t version) override;
  void evaluate(std::uint64_t now_ns, std::uint64_t deadline_ns) override;

 protected:
  // The maximum age of a measured value.
  static constexpr std::uint64_t kFreshNs = 10'000'000'000;

  virtual Decision decide(const Situation& situation, std::uint64_t now_ns) = 0;
  MetricQuery& metrics() { return metrics_; }
  std::int64_t configured(std::string_view pointer, std::int64_t otherwise) const;

 private:
  void read_config();
  void read_pods(const plugin::Snapshot& snapshot);
  void measure_pods(std::uint64_t now_ns);
  void read_node(const plugin::Snapshot& snapshot);
  bool is_wanted(const plugin::Snapshot& snapshot, std::uint64_t now_ns);
  bool request(const Demand& demand);
  void log_unknown(const Decision& decision);
  void log_once(std::string_view about, std::string_view what);

  const Kind kind_;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_evict* evict_ = nullptr;
  MetricQuery metrics_;
  Situation situation_;
  strategy::SloOfNode slo_;
  std::uint64_t pods_version_ = 0;
  std::uint64_t cool_down_ns_ = 0;
  std::optional<std::uint64_t> cool_since_ns_;
  ProblemTracker problems_;
};

}  // namespace koord::eviction
