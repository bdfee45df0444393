// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/memory_blame.hpp"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "bpf/memory_blame/memory_blame.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/memory_blame/memory_blame.skel.h"
#pragma GCC diagnostic pop

namespace koord::interference {
namespace {

static_assert(sizeof(memory_blame_slot) == 16);

const latency::ProgramSource kMemoryPrograms = {
    "btf_tracepoint", {"on_cgroup_rmdir", "count_memcg_reclaim", "count_direct_reclaim"}, {}};

}  // namespace

FreedPages& FreedPages::operator+=(const FreedPages& other) {
  at_limit += other.at_limit;
  on_node += other.on_node;
  return *this;
}

FreedPages added(const FreedPages& before, const FreedPages& now) {
  return {now.at_limit - before.at_limit, now.on_node - before.on_node};
}

Result<MemoryBlame> MemoryBlame::open(const latency::CgroupTree& tree, const std::string& btf) {
  latency::SlotObject object{.kinds = 0, .slot_maps = {"blame_slots"}, .slot_bytes = sizeof(memory_blame_slot)};
  object.file.name = "memory_blame";
  object.file.bytes = memory_blame__elf_bytes(&object.file.size);
  return MemoryBlame(TRY(latency::SlotPrograms::open(object, kMemoryPrograms, tree, {btf, 0, {}})));
}

Result<latency::Reading<FreedPages>> MemoryBlame::read() {
  latency::CgroupSlots& slots = programs_.slots();
  TRY(slots.refresh());
  std::uint32_t n = latency::CgroupSlots::kNoCgroup + 1;
  for (const latency::SlotOwner& owner : slots.living()) n = std::max(n, owner.slot + 1);
  for (const latency::SlotOwner& owner : slots.ended()) n = std::max(n, owner.slot + 1);
  std::vector<memory_blame_slot> values(n);
  TRY(bpf::read_array(programs_.map("blame_slots"), n, values.data(), sizeof(memory_blame_slot)));
  latency::Reading<FreedPages> reading = latency::reading_of<FreedPages>(programs_, [&](std::uint32_t slot) {
    return FreedPages{values[slot].at_limit, values[slot].on_node};
  });
  const memory_blame_slot zero{};
  for (const latency::SlotOwner& owner : slots.ended())
    if (bpf_map_update_elem(programs_.map("blame_slots"), &owner.slot, &zero, BPF_ANY) != 0)
      return system_error(errno, "cannot clear a slot");
  TRY(slots.free_ended());
  return reading;
}

}  // namespace koord::interference
