// SPDX-License-Identifier: Apache-2.0
// qos-memory-evict: requests the eviction of pods when the node lacks memory.
#include "plugins/qos-memory-evict/memory_evict.hpp"
#include "plugins/shared/eviction/evict_strategy.hpp"
#include "plugins/shared/sdk/joined.hpp"

namespace {

using namespace std::chrono_literals;
using koord::eviction::Decision;
using koord::eviction::EvictStrategy;
using koord::eviction::Resource;
using koord::eviction::Situation;

constexpr auto kSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {)",
                                                 koord::eviction::kEvictSettings, R"(
  }})");

class MemoryEvict final : public EvictStrategy {
 public:
  MemoryEvict()
      : EvictStrategy(
            {Resource::memory,
             "pod_memory_usage",
             1,
             {koord::memory_evict::kBestEffort, koord::memory_evict::kAllocatable, koord::memory_evict::kUsage},
             4,
             false}) {}

 private:
  // Uses the newest sample, because for memory an average would come too late.
  Decision decide(const Situation& situation, std::uint64_t now_ns) override {
    const auto used = metrics().of_node("node_memory_usage", KOORD_AGG_LAST, now_ns, kFreshNs);
    return koord::memory_evict::decide(situation,
                                       used ? std::optional(static_cast<std::int64_t>(used->value)) : std::nullopt);
  }
};

}  // namespace

KOORD_PLUGIN("id=qos-memory-evict\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=BEMemoryEvict,MemoryAllocatableEvict,MemoryEvict\n"
             "requires=koord.config/1,koord.evict/1,koord.metrics/1,koord.state/1\nlicense=Apache-2.0\n"
             "description=Asks for the eviction of pods when the node is short of memory\n",
             koord::plugin::qos_strategy<MemoryEvict>("memory-evict", 1s, kSchema.data()))
