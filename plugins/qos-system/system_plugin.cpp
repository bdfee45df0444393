// SPDX-License-Identifier: Apache-2.0
// qos-system: sets the node's kernel knobs that a NodeSLO's systemStrategy requests.
#include <algorithm>
#include <optional>
#include <string>

#include "plugins/qos-system/system_knobs.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::require;
using koord::plugin::Snapshot;
using koord::plugin::Strided;
using koord::plugin::view;

constexpr auto kPeriod = 5s;
constexpr auto kHolds = 6 * kPeriod;

constexpr char kConfigSchema[] = R"({"type": "object", "additionalProperties": false})";

std::optional<std::int64_t> memory_of(const koord_node* node) {
  if (!node) return std::nullopt;
  for (const koord_resource& resource :
       Strided<koord_resource>(node->resources, node->n_resources, node->resource_stride))
    if (view(resource.name) == "memory" && resource.limit > 0) return resource.limit;  // the limit is the capacity
  return std::nullopt;
}

class System final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    now_ns_ = now_ns;
    const Snapshot snapshot(host(), state_);
    for (const std::string& problem : slo_.follow(snapshot)) log(KOORD_LOG_WARN, problem + ", ignoring");
    if (const std::string line = slo_.new_line(now_ns); !line.empty()) log(KOORD_LOG_INFO, line);
    koord::system_knobs::Plan planned;
    if (slo_.get() && slo_.get()->system)
      planned = koord::system_knobs::plan(*slo_.get()->system, memory_of(snapshot.node()));
    for (const std::string& problem : planned.problems)
      if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end())
        log(KOORD_LOG_WARN, problem + ", ignoring");
    problems_ = std::move(planned.problems);
    std::erase_if(planned.intents,
                  [&](const koord::strategy::Intent& intent) { return missing_.missing(intent.knob, now_ns); });
    koord::strategy::propose(host(), knobs_, planned.intents, kHolds);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  koord::strategy::SloOfNode slo_;
  koord::slo::Problems problems_;
  koord::strategy::MissingKnobs missing_;
  koord::strategy::Refusals refusals_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-system\n"
             "version=1.0.0\n"
             "kinds=koord.qos-strategy/1\n"
             "gate=SystemConfig\n"
             "requires=koord.knobs/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=knobs of the node's kernel: free memory, watermarks, scheduler\n",
             koord::plugin::qos_strategy<System>("system", kPeriod, kConfigSchema))
