// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cpu_blame.hpp"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <unordered_map>

#include "bpf/cpu_blame/cpu_blame.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/cpu_blame/cpu_blame.skel.h"
#pragma GCC diagnostic pop

namespace koord::interference {
namespace {

using latency::CgroupSlots;
using latency::SlotOwner;

static_assert(kExcessLevels == BLAME_LEVELS);

static_assert(sizeof(blame_lengths) == latency::kBuckets * sizeof(std::uint64_t));

constexpr const char* kVisit = "for_each_waiting_thread";
constexpr const char* kLengths = "wait_lengths";

// The programs in the order of their start. Programs that see new threads start before the program that lists the
// existing threads, so no thread is missed.
const latency::ProgramSource kPrograms = {"sched_info",
                                          {"on_cgroup_rmdir", "for_each_new_thread", "for_each_existing_thread",
                                           "blame_on_migrate", "blame_on_switch", kVisit},
                                          {}};

CpuTimes times_of(const blame_slot& slot) {
  CpuTimes times{slot.run_ns, slot.wait_ns, slot.waits, slot.long_ns, slot.throttled_ns, {}};
  std::copy(std::begin(slot.excess_ns), std::end(slot.excess_ns), times.excess.begin());
  return times;
}

Occupant occupant_of(std::uint32_t slot) {
  switch (slot) {
    case BLAME_KERNEL:
      return Occupant::kernel;
    case BLAME_IDLE:
      return Occupant::idle;
    case BLAME_MOVED:
      return Occupant::moved;
    default:
      return Occupant::unknown;
  }
}

}  // namespace

CpuTimes& CpuTimes::operator+=(const CpuTimes& other) {
  run += other.run;
  wait += other.wait;
  waits += other.waits;
  long_wait += other.long_wait;
  throttled += other.throttled;
  for (std::size_t i = 0; i < kExcessLevels; ++i) excess[i] += other.excess[i];
  return *this;
}

CpuTimes added(const CpuTimes& before, const CpuTimes& now) {
  CpuTimes difference{now.run - before.run,
                      now.wait - before.wait,
                      now.waits - before.waits,
                      now.long_wait - before.long_wait,
                      now.throttled - before.throttled,
                      {}};
  for (std::size_t i = 0; i < kExcessLevels; ++i) difference.excess[i] = now.excess[i] - before.excess[i];
  return difference;
}

Result<CpuBlame> CpuBlame::open(const latency::CgroupTree& tree, const std::string& btf, std::uint32_t slots) {
  const std::uint32_t cpus = TRY(bpf::possible_cpus());
  latency::SlotObject object{.kinds = 0,
                             .per_cpu = true,
                             .map_entries = {{"cpus", cpus}, {"matrix", kPairs}},
                             .slot_maps = {"blame_slots", kLengths},
                             .slot_bytes = sizeof(blame_slot) + sizeof(blame_lengths)};
  object.file.name = "cpu_blame";
  object.file.bytes = cpu_blame__elf_bytes(&object.file.size);
  return CpuBlame(TRY(latency::SlotPrograms::open(object, kPrograms, tree, {btf, slots, {}})), cpus);
}

void CpuBlame::take_runs(const std::vector<blame_slot>& copies, const SlotOwner& owner, std::vector<CpuRun>& runs) {
  for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
    const std::size_t at = std::size_t{owner.slot} * cpus_ + cpu;
    if (at >= copies.size()) return;
    const std::uint64_t before = std::exchange(run_ns_[at], copies[at].run_ns);
    if (copies[at].run_ns > before) runs.push_back({owner.cgroup, cpu, copies[at].run_ns - before});
  }
}

// Returns the waits by length. Their sums include waits that still last.
Result<latency::Reading<latency::Waits>> CpuBlame::read_waits(const std::vector<CpuTimes>& times) const {
  const std::vector<blame_lengths> copies = TRY(programs_.read_slots<blame_lengths>(kLengths, cpus_));
  return latency::reading_of<latency::Waits>(programs_, [&](std::uint32_t slot) {
    latency::Waits waits;
    waits.sum_ns = times[slot].wait;
    waits.throttled_ns = times[slot].throttled;
    for (std::size_t copy = std::size_t{slot} * cpus_; copy < (std::size_t{slot} + 1) * cpus_; ++copy)
      for (std::size_t i = 0; i < latency::kBuckets; ++i) waits.buckets[i] += copies[copy].buckets[i];
    waits.count = std::accumulate(waits.buckets.begin(), waits.buckets.end(), std::uint64_t{0});
    return waits;
  });
}

Result<void> CpuBlame::free_ended() {
  TRY(programs_.clear_ended("blame_slots", sizeof(blame_slot) * cpus_));
  TRY(programs_.clear_ended(kLengths, sizeof(blame_lengths) * cpus_));
  return programs_.slots().free_ended();
}

// Reads the matrix first, so each cgroup in it has a slot when the slots are read.
Result<CpuReading> CpuBlame::read(Lengths lengths) {
  TRY(programs_.run(kVisit));
  const std::uint32_t n = TRY(bpf::take_all(programs_.map("matrix"), pairs_, pair_ns_));
  CgroupSlots& slots = programs_.slots();
  TRY(slots.refresh());
  // Index: slot * CPUs + CPU, up to the highest slot in use.
  const std::vector<blame_slot> copies = TRY(programs_.read_slots<blame_slot>("blame_slots", cpus_));
  std::vector<CpuTimes> times(copies.size() / cpus_);
  for (std::size_t i = 0; i < copies.size(); ++i) times[i / cpus_] += times_of(copies[i]);
  run_ns_.resize(std::max(run_ns_.size(), copies.size()));
  CpuReading reading;
  for (const SlotOwner& owner : slots.living()) take_runs(copies, owner, reading.runs);
  for (const SlotOwner& owner : slots.ended()) {
    take_runs(copies, owner, reading.runs);
    std::fill_n(run_ns_.begin() + std::ptrdiff_t(owner.slot) * cpus_, cpus_, 0);  // the slot is cleared below
  }
  reading.times = latency::reading_of<CpuTimes>(programs_, [&](std::uint32_t slot) { return times[slot]; });
  if (lengths == Lengths::all || (lengths == Lengths::of_ended && !slots.ended().empty()))
    reading.waits = TRY(read_waits(times));

  std::unordered_map<std::uint32_t, std::uint64_t> cgroups;
  for (const SlotOwner& owner : slots.living()) cgroups[owner.slot] = owner.cgroup;
  for (const SlotOwner& owner : slots.ended()) cgroups[owner.slot] = owner.cgroup;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto victim = cgroups.find(pairs_[i] >> BLAME_SLOT_BITS);
    const auto culprit = cgroups.find(pairs_[i] & ((1u << BLAME_SLOT_BITS) - 1));
    Blame blame{.victim = victim == cgroups.end() ? 0 : victim->second, .ns = pair_ns_[i]};
    blame.occupant = culprit == cgroups.end() ? occupant_of(pairs_[i] & 0xffff) : Occupant::cgroup;
    if (culprit != cgroups.end()) blame.culprit = culprit->second;
    reading.blames.push_back(blame);
  }
  const std::uint32_t zero = 0;
  if (bpf_map_lookup_elem(programs_.map("unplaced"), &zero, &reading.unplaced_ns) != 0)
    return system_error(errno, "cannot read what the matrix had no place for");
  TRY(free_ended());
  return reading;
}

}  // namespace koord::interference
