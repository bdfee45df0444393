// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/cgroup_slots.hpp"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "bpf/include/latency_slots.h"

namespace koord::latency {
namespace {

static_assert(kBuckets == LATENCY_BUCKETS);
static_assert(sizeof(latency_histogram) == 8 * (1 + kBuckets));
static_assert(sizeof(latency_ended) == 16);
static_assert(CgroupSlots::kNoCgroup == LATENCY_NO_CGROUP_SLOT);

constexpr std::uint64_t kMostBytes = 16u << 20;
constexpr std::uint64_t kSlotMask = (1u << LATENCY_SLOT_BITS) - 1;

void add(Histogram& total, const latency_histogram& copy) {
  total.sum_ns += copy.sum_ns;
  for (std::size_t i = 0; i < kBuckets; ++i) total.buckets[i] += copy.buckets[i];
}

}  // namespace

CgroupSlots::CgroupSlots(std::uint32_t slots, std::uint32_t kinds, std::uint32_t copies)
    : slots_(slots), kinds_(kinds), copies_(copies) {}
CgroupSlots::CgroupSlots(CgroupSlots&&) noexcept = default;
CgroupSlots& CgroupSlots::operator=(CgroupSlots&&) noexcept = default;
CgroupSlots::~CgroupSlots() = default;

// A slot needs its size on every CPU. The limit is in bytes, because a fixed number would use too much memory on a
// machine with many CPUs.
Result<std::uint32_t> CgroupSlots::number_for(std::uint32_t wanted, std::size_t slot_bytes, bool per_cpu) {
  const std::uint32_t copies = per_cpu ? TRY(bpf::possible_cpus()) : 1;
  if (wanted == 0)
    wanted = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kMostBytes / (copies * slot_bytes), 512, 4096));
  return std::clamp<std::uint32_t>(wanted, 2, LATENCY_MAX_SLOTS);
}

std::size_t CgroupSlots::histogram_bytes(std::uint32_t kinds) { return kinds * sizeof(latency_histogram); }

std::vector<std::pair<const char*, std::uint32_t>> CgroupSlots::map_entries(std::uint32_t slots, std::uint32_t kinds) {
  std::vector<std::pair<const char*, std::uint32_t>> entries = {
      {"slot_owners", slots}, {"cgroup_slots", slots}, {"free_slots", slots}, {"ended_slots", slots}};
  if (kinds > 0) entries.emplace_back("histograms", slots * kinds);
  return entries;
}

Result<CgroupSlots> CgroupSlots::open(const bpf::Programs& programs, std::uint32_t slots, std::uint32_t kinds) {
  const bool is_per_cpu = kinds > 0 && programs.is_per_cpu("histograms");
  const std::uint32_t copies = is_per_cpu ? TRY(bpf::possible_cpus()) : 1;
  CgroupSlots opened(slots, kinds, copies);
  TRY(opened.connect(programs));
  return opened;
}

Result<void> CgroupSlots::connect(const bpf::Programs& programs) {
  if (kinds_ > 0) histograms_ = programs.map("histograms");
  free_slots_ = programs.map("free_slots");
  ended_slots_ = programs.map("ended_slots");
  lost_map_ = programs.map("lost_begins");
  owners_ = TRY(bpf::MappedArray::open(programs.map("slot_owners"), slots_));
  cache_ = programs.map("slot_cache");
  for (std::uint32_t slot = slots_ - 1; slot > kNoCgroup; --slot)
    if (bpf_map_update_elem(free_slots_, nullptr, &slot, BPF_ANY) != 0)
      return system_error(errno, "cannot offer a slot");
  return {};
}

Result<void> CgroupSlots::refresh() {
  TRY(take_ended());
  TRY(forget_cached());
  const std::uint32_t n = slots_to_read();
  TRY(read_values(n));
  TRY(read_lost_begins());
  std::unordered_set<std::uint32_t> ended;
  for (const SlotOwner& owner : ended_) ended.insert(owner.slot);
  living_.clear();
  for (std::uint32_t slot = kNoCgroup + 1; slot < n; ++slot)
    if (std::uint64_t owner = owners_.load(slot); owner != 0 && !ended.contains(slot)) living_.push_back({owner, slot});
  return {};
}

Result<void> CgroupSlots::take_ended() {
  latency_ended ended{};
  while (bpf_map_lookup_and_delete_elem(ended_slots_, nullptr, &ended) == 0)
    ended_.push_back({ended.cgroup, ended.slot});
  return errno == ENOENT ? Result<void>() : system_error(errno, "cannot ask for the removed cgroups");
}

// Removes the slots of ended cgroups from the cache. Otherwise a last thread of a removed cgroup could write into a
// slot that has a new owner. Also removes the entries of cgroups that found no slot, so they try again. The cache is
// mapped only during the call, because it is large and cgroups end rarely.
Result<void> CgroupSlots::forget_cached() const {
  if (ended_.empty()) return {};
  bpf::MappedArray cache = TRY(bpf::MappedArray::open(cache_, LATENCY_CACHE_ENTRIES));
  std::unordered_set<std::uint64_t> slots = {LATENCY_SLOT_UNAVAILABLE};
  for (const SlotOwner& owner : ended_) slots.insert(owner.slot);
  for (std::size_t i = 0; i < cache.size(); ++i)
    if (std::uint64_t entry = cache.load(i); entry != 0 && slots.contains(entry & kSlotMask)) cache.store(i, 0);
  return {};
}

std::uint32_t CgroupSlots::slots_to_read() const {
  std::uint32_t n = slots_;
  while (n > 1 && owners_.load(n - 1) == 0) --n;
  return n;
}

std::uint32_t CgroupSlots::end_of_used() const {
  std::uint32_t end = kNoCgroup + 1;
  for (const SlotOwner& owner : living_) end = std::max(end, owner.slot + 1);
  for (const SlotOwner& owner : ended_) end = std::max(end, owner.slot + 1);
  return end;
}

Result<void> CgroupSlots::read_values(std::uint32_t n) {
  values_.resize(std::size_t{n} * kinds_ * copies_);
  return bpf::read_array(histograms_, n * kinds_, values_.data(), sizeof(latency_histogram) * copies_);
}

Histogram CgroupSlots::total(std::uint32_t slot, std::uint32_t kind) const {
  Histogram total;
  const std::size_t first = (std::size_t{slot} * kinds_ + kind) * copies_;
  for (std::uint32_t copy = 0; copy < copies_; ++copy) add(total, values_[first + copy]);
  total.count = std::accumulate(total.buckets.begin(), total.buckets.end(), std::uint64_t{0});
  return total;
}

Result<void> CgroupSlots::read_lost_begins() {
  std::vector<std::uint64_t> each(TRY(bpf::possible_cpus()));
  const std::uint32_t zero = 0;
  if (bpf_map_lookup_elem(lost_map_, &zero, each.data()) != 0)
    return system_error(errno, "cannot read the number of lost begins");
  lost_begins_ = std::accumulate(each.begin(), each.end(), std::uint64_t{0});
  return {};
}

Result<void> CgroupSlots::free_ended(const std::unordered_set<std::uint32_t>& in_use) {
  const auto first_unused = std::partition(ended_.begin(), ended_.end(),
                                           [&in_use](const SlotOwner& owner) { return in_use.contains(owner.slot); });
  const auto kept = static_cast<std::size_t>(first_unused - ended_.begin());
  while (ended_.size() > kept) {
    TRY(clear(ended_.back().slot));
    ended_.pop_back();
  }
  return {};
}

Result<void> CgroupSlots::clear(std::uint32_t slot) {
  const std::vector<latency_histogram> zeros(copies_);
  for (std::uint32_t index = slot * kinds_; index < (slot + 1) * kinds_; ++index)
    if (bpf_map_update_elem(histograms_, &index, zeros.data(), BPF_ANY) != 0)
      return system_error(errno, "cannot clear a slot");
  owners_.store(slot, 0);
  if (bpf_map_update_elem(free_slots_, nullptr, &slot, BPF_ANY) != 0)
    return system_error(errno, "cannot offer a slot again");
  return {};
}

}  // namespace koord::latency
