// SPDX-License-Identifier: Apache-2.0
// SlotPrograms runs BPF programs that keep histograms for each cgroup. It uses the first of several sources that the
// kernel accepts, and returns why the kernel refused the previous ones. Its destructor unloads the programs. Used by
// one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/bpf/programs.hpp"
#include "plugins/shared/latency/cgroup_slots.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::latency {

// One set of programs that measures the values.
struct ProgramSource {
  std::string_view name;
  std::vector<std::string_view> programs;  // programs in the order in which they are started
  std::vector<const char*> unused_maps;
};

struct SlotOptions {
  std::string btf;          // file with the kernel's types; empty: the types of the running kernel
  std::uint32_t slots = 0;  // cgroups measured separately; 0: as many as 16 MiB hold
  std::string only;         // if set, only this source is tried
};

// Properties of the programs, defined next to their source.
struct SlotObject {
  bpf::ObjectFile file;
  std::uint32_t kinds = 1;                                              // kinds of delays; each has its own histogram
  bool per_cpu = false;                                                 // whether slots have a copy for each CPU
  std::vector<std::pair<const char*, std::uint32_t>> map_entries = {};  // sizes of their other maps
  std::vector<const char*> slot_maps = {};                              // maps with one entry for each slot
  std::size_t slot_bytes = 0;                                           // bytes per slot in those maps
};

struct Refusal {
  std::string_view source;
  std::string why;
};

class SlotPrograms {
 public:
  // Fails if the kernel refuses the source. Ignores `options.only`.
  static Result<SlotPrograms> open(const SlotObject& object, const ProgramSource& source, const CgroupTree& tree,
                                   const SlotOptions& options);
  // Fails if the kernel refuses every source. In that case the error has the reason for each source.
  static Result<SlotPrograms> open_first(const SlotObject& object, std::span<const ProgramSource> sources,
                                         const CgroupTree& tree, const SlotOptions& options);

  std::string_view source() const { return source_; }
  const std::vector<Refusal>& refused() const { return refused_; }
  CgroupSlots& slots() { return slots_; }
  const CgroupSlots& slots() const { return slots_; }
  int map(const char* name) const { return programs_.map(name); }
  // Returns the content of a per-CPU map that has an entry for each slot, up to the highest slot in use. Entry n of CPU
  // c is at n * cpus + c.
  template <class Entry>
  Result<std::vector<Entry>> read_slots(const char* map, std::uint32_t cpus) const {
    const std::uint32_t n = slots_.end_of_used();
    std::vector<Entry> entries(std::size_t{n} * cpus);
    TRY(bpf::read_array(programs_.map(map), n, entries.data(), sizeof(Entry) * cpus));
    return entries;
  }
  // Clears the entries of ended slots in a map with one entry for each slot. `entry_bytes`: size of an entry with the
  // copies of all CPUs.
  Result<void> clear_ended(const char* map, std::size_t entry_bytes) const;
  std::uint64_t missed() const { return programs_.missed(); }
  // Runs an iterator of the source again.
  Result<void> run(const char* iterator) { return programs_.run(iterator); }

 private:
  SlotPrograms(std::string_view source, bpf::Programs programs, CgroupSlots slots)
      : source_(source), programs_(std::move(programs)), slots_(std::move(slots)) {}

  std::string_view source_;
  std::vector<Refusal> refused_;
  bpf::Programs programs_;
  CgroupSlots slots_;
};

// Returns the last read as plain values. `total_of(slot)` returns the content of a slot.
template <class Total, class TotalOf>
Reading<Total> reading_of(const SlotPrograms& programs, TotalOf&& total_of) {
  const CgroupSlots& slots = programs.slots();
  Reading<Total> reading;
  reading.missed_events = programs.missed();
  reading.slots = slots.size();
  reading.slots_used = static_cast<std::uint32_t>(slots.living().size());
  reading.lost_begins = slots.lost_begins();
  reading.unassigned = total_of(CgroupSlots::kNoCgroup);
  for (const SlotOwner& owner : slots.living()) reading.cgroups.push_back({owner.cgroup, total_of(owner.slot)});
  for (const SlotOwner& owner : slots.ended()) reading.ended.push_back({owner.cgroup, total_of(owner.slot)});
  return reading;
}

}  // namespace koord::latency
