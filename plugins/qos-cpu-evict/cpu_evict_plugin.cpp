// SPDX-License-Identifier: Apache-2.0
// qos-cpu-evict: requests the eviction of pods when the node lacks CPU.
#include "plugins/qos-cpu-evict/cpu_evict.hpp"
#include "plugins/shared/eviction/evict_strategy.hpp"
#include "plugins/shared/sdk/joined.hpp"

namespace {

using namespace std::chrono_literals;
using koord::MetricQuery;
using koord::cpu_evict::BestEffort;
using koord::cpu_evict::NodeUsage;
using koord::eviction::Decision;
using koord::eviction::EvictStrategy;
using koord::eviction::Resource;
using koord::eviction::Situation;

constexpr auto kSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {)",
                                                 koord::eviction::kEvictSettings, R"(,
    "windowSeconds": {"type": "integer", "minimum": 3, "maximum": 3600}
  }})");

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kDefaultWindowSeconds = 10;
// A single sample is not sufficient.
constexpr std::int64_t kLeastWindowSeconds = 3;
constexpr std::uint64_t kLeastSamples = 2;

class CpuEvict final : public EvictStrategy {
 public:
  CpuEvict()
      : EvictStrategy({Resource::cpu,
                       "pod_cpu_usage",
                       1000,
                       {koord::cpu_evict::kBestEffort, koord::cpu_evict::kAllocatable, koord::cpu_evict::kUsage},
                       20,
                       true}) {}

 private:
  Decision decide(const Situation& situation, std::uint64_t now_ns) override {
    const std::int64_t seconds =
        situation.slo.cpu_evict_time_window_seconds.value_or(configured("/windowSeconds", kDefaultWindowSeconds));
    window_ns_ = static_cast<std::uint64_t>(std::max(seconds, kLeastWindowSeconds)) * kSecondNs;
    now_ns_ = now_ns;
    NodeUsage node_usage;
    node_usage.node_milli = {average("node_cpu_usage", 1000), newest("node_cpu_usage", 1000)};
    node_usage.best_effort = {best_effort(&CpuEvict::average), best_effort(&CpuEvict::newest)};
    return koord::cpu_evict::decide(situation, node_usage);
  }

  using Labels = std::initializer_list<koord::plugin::Label>;
  using Ask = std::optional<double> (CpuEvict::*)(std::string_view metric, double scale, Labels labels);

  // Returns nullopt until the samples cover a third of the window.
  std::optional<double> average(std::string_view metric, double scale, Labels labels = {}) {
    const auto figure = metrics().of_node(metric, KOORD_AGG_AVG, now_ns_, window_ns_, labels);
    if (!figure || figure->samples < kLeastSamples || figure->covered_ns < window_ns_ / 3) return std::nullopt;
    return figure->value * scale;
  }
  std::optional<double> newest(std::string_view metric, double scale, Labels labels = {}) {
    const auto figure = metrics().of_node(metric, KOORD_AGG_LAST, now_ns_, kFreshNs, labels);
    return figure ? std::optional(figure->value * scale) : std::nullopt;
  }
  std::optional<BestEffort> best_effort(Ask ask) {
    const auto of = [&](std::string_view allocation) {
      return (this->*ask)("node_be", 1, {{"be_resource", "cpu"}, {"be_allocation", allocation}});
    };
    const auto usage = of("usage"), request = of("request"), limit = of("real-limit");
    if (!usage || !request || !limit) return std::nullopt;
    return BestEffort{*usage, *request, *limit};
  }

  std::uint64_t now_ns_ = 0, window_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-cpu-evict\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=BECPUEvict,CPUAllocatableEvict,CPUEvict\n"
             "requires=koord.config/1,koord.evict/1,koord.metrics/1,koord.state/1\nlicense=Apache-2.0\n"
             "description=Asks for the eviction of pods when the node is short of CPU\n",
             koord::plugin::qos_strategy<CpuEvict>("cpu-evict", 1s, kSchema.data()))
