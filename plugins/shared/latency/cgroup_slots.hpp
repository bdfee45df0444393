// SPDX-License-Identifier: Apache-2.0
// CgroupSlots reads the histograms that BPF programs keep for each cgroup, and does the user-space part of a slot's
// lifetime, see bpf/include/latency_slots.h. The programs must outlive it.
//
//   TRY(slots.refresh());
//   for (auto owner : slots.living()) use(owner.cgroup, slots.total(owner.slot));
//   for (auto owner : slots.ended()) use_last(owner.cgroup, slots.total(owner.slot));
//   TRY(slots.free_ended());
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/bpf/programs.hpp"
#include "plugins/shared/latency/histogram.hpp"

struct latency_histogram;

namespace koord::latency {

struct SlotOwner {
  std::uint64_t cgroup = 0;
  std::uint32_t slot = 0;
};

class CgroupSlots {
 public:
  // The slot for delays that belong to no cgroup's slot because no slot was free.
  static constexpr std::uint32_t kNoCgroup = 0;

  // Returns the number of slots to load the programs with: `wanted`, or if that is 0 the number that fits into 16 MiB,
  // from 512 to 4096. `slot_bytes`: memory that the programs use for a cgroup, per copy.
  static Result<std::uint32_t> number_for(std::uint32_t wanted, std::size_t slot_bytes, bool per_cpu);
  static std::size_t histogram_bytes(std::uint32_t kinds);
  // Returns the sizes of the maps, for LoadOptions::map_entries.
  static std::vector<std::pair<const char*, std::uint32_t>> map_entries(std::uint32_t slots, std::uint32_t kinds);

  // Opens the maps; call it before the programs are started. `kinds`: histograms in each slot; 0: the caller itself
  // reads the content of the slots.
  static Result<CgroupSlots> open(const bpf::Programs& programs, std::uint32_t slots, std::uint32_t kinds);
  CgroupSlots(CgroupSlots&&) noexcept;
  CgroupSlots& operator=(CgroupSlots&&) noexcept;
  ~CgroupSlots();

  // Reads everything that the functions below return. Values of an ended cgroup stay until free_ended() has succeeded.
  Result<void> refresh();
  std::span<const SlotOwner> living() const { return living_; }
  std::span<const SlotOwner> ended() const { return ended_; }
  Histogram total(std::uint32_t slot, std::uint32_t kind = 0) const;
  std::uint64_t lost_begins() const { return lost_begins_; }
  // Returns 1 + the highest slot of living() and ended().
  std::uint32_t end_of_used() const;
  // Returns how many slots can be assigned to cgroups.
  std::uint32_t size() const { return slots_ - 1; }

  // Clears the slots of ended() and offers them to other cgroups. Before the call, clear everything else that is kept
  // for these slots. Slots in `in_use` stay until a later call, because something still counts into them.
  Result<void> free_ended(const std::unordered_set<std::uint32_t>& in_use = {});

 private:
  CgroupSlots(std::uint32_t slots, std::uint32_t kinds, std::uint32_t copies);

  Result<void> connect(const bpf::Programs& programs);
  Result<void> take_ended();
  Result<void> forget_cached() const;
  std::uint32_t slots_to_read() const;
  Result<void> read_values(std::uint32_t n);
  Result<void> read_lost_begins();
  Result<void> clear(std::uint32_t slot);

  std::uint32_t slots_, kinds_, copies_;  // copies: number of CPUs, or 1
  int histograms_ = -1, free_slots_ = -1, ended_slots_ = -1, lost_map_ = -1, cache_ = -1;
  bpf::MappedArray owners_;
  std::vector<latency_histogram> values_;  // last read, ordered by slot, kind and copy
  std::vector<SlotOwner> living_, ended_;
  std::uint64_t lost_begins_ = 0;
};

}  // namespace koord::latency
