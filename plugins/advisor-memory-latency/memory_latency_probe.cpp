// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-latency/memory_latency_probe.hpp"

#include "bpf/memory_latency/memory_latency.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/memory_latency/memory_latency.skel.h"
#pragma GCC diagnostic pop

namespace koord::memory_latency {
namespace {

static_assert(static_cast<int>(Kind::memcg_reclaim) == MEMORY_STALL_MEMCG_RECLAIM);
static_assert(static_cast<int>(Kind::direct_reclaim) == MEMORY_STALL_DIRECT_RECLAIM);
static_assert(static_cast<int>(Kind::compaction) == MEMORY_STALL_COMPACTION);
static_assert(kKinds.size() == MEMORY_STALL_KINDS);

// Only for raw_tracepoint. A machine on which more threads are stalled at the same time does not work any more.
constexpr std::uint32_t kStalledThreads = 8192;

std::vector<latency::ProgramSource> sources() {
  return {
      {kSources[0],
       {"on_cgroup_rmdir", "on_memcg_reclaim_begin", "on_memcg_reclaim_end", "on_direct_reclaim_begin",
        "on_direct_reclaim_end", "on_compaction_begin", "on_compaction_end"},
       {"stalled_threads"}},
      {kSources[1],
       {"raw_on_cgroup_rmdir", "raw_on_memcg_reclaim_begin", "raw_on_memcg_reclaim_end", "raw_on_direct_reclaim_begin",
        "raw_on_direct_reclaim_end", "raw_on_compaction_begin", "raw_on_compaction_end"},
       {"threads"}}};
}

Stalls stalls_in(const latency::CgroupSlots& slots, std::uint32_t slot) {
  Stalls stalls;
  for (Kind kind : kKinds) stalls.of(kind) = slots.total(slot, static_cast<std::uint32_t>(kind));
  return stalls;
}

}  // namespace

Result<MemoryLatencyProbe> MemoryLatencyProbe::open(const latency::CgroupTree& tree,
                                                    const latency::SlotOptions& options) {
  latency::SlotObject object{.kinds = MEMORY_STALL_KINDS, .map_entries = {{"stalled_threads", kStalledThreads}}};
  object.file.name = "memory_latency";
  object.file.bytes = memory_latency__elf_bytes(&object.file.size);
  return MemoryLatencyProbe(TRY(latency::SlotPrograms::open_first(object, sources(), tree, options)));
}

Result<Reading> MemoryLatencyProbe::read() {
  latency::CgroupSlots& slots = programs_.slots();
  TRY(slots.refresh());
  Reading reading = latency::reading_of<Stalls>(programs_, [&](std::uint32_t slot) { return stalls_in(slots, slot); });
  TRY(slots.free_ended());
  return reading;
}

}  // namespace koord::memory_latency
