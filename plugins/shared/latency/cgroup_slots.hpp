// SPDX-License-Identifier: Apache-2.0
// CgroupSlots reads the histograms that programs keep for each cgroup and is the user's half of a slot's lifetime, see
// bpf/include/latency_slots.h. The programs outlive it.
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
  // The slot of no cgroup: for delays without a free slot.
  static constexpr std::uint32_t kNoCgroup = 0;

  // How many slots to load programs with: `wanted`, or when that is 0 what 16 MiB hold, within 512 and 4096.
  // `slot_bytes`: memory that the programs use for a cgroup, per copy.
  static Result<std::uint32_t> number_for(std::uint32_t wanted, std::size_t slot_bytes, bool per_cpu);
  static std::size_t histogram_bytes(std::uint32_t kinds);
  // Their sizes, for LoadOptions::map_entries.
  static std::vector<std::pair<const char*, std::uint32_t>> map_entries(std::uint32_t slots, std::uint32_t kinds);

  // Before the programs are started. `kinds` of histograms in each slot; 0: the caller reads what the programs keep
  // there.
  static Result<CgroupSlots> open(const bpf::Programs& programs, std::uint32_t slots, std::uint32_t kinds);
  CgroupSlots(CgroupSlots&&) noexcept;
  CgroupSlots& operator=(CgroupSlots&&) noexcept;
  ~CgroupSlots();

  // Reads all that follows. Values of ended cgroups stay until free_ended() went through.
  Result<void> refresh();
  std::span<const SlotOwner> living() const { return living_; }
  std::span<const SlotOwner> ended() const { return ended_; }
  Histogram total(std::uint32_t slot, std::uint32_t kind = 0) const;
  std::uint64_t lost_begins() const { return lost_begins_; }
  // 1 + the highest slot of living() and ended().
  std::uint32_t end_of_used() const;
  // Returns how many slots can be assigned to cgroups.
  std::uint32_t size() const { return slots_ - 1; }

  // Clears the slots of ended() and offers them to other cgroups; what else the user keeps for them must be cleared.
  // Those in `in_use` stay, for a later call: something still counts for them.
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

  std::uint32_t slots_, kinds_, copies_;  // copies: CPUs, or 1
  int histograms_ = -1, free_slots_ = -1, ended_slots_ = -1, lost_map_ = -1, cache_ = -1;
  bpf::MappedArray owners_;
  std::vector<latency_histogram> values_;  // of the last read: slot by slot, kind by kind, each copy
  std::vector<SlotOwner> living_, ended_;
  std::uint64_t lost_begins_ = 0;
};

}  // namespace koord::latency
