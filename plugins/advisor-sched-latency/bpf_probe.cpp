// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/bpf_probe.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bpf/sched_latency/sched_latency.h"

namespace koord::sched_latency {
namespace {

static_assert(kBuckets == SCHED_LATENCY_BUCKETS);
static_assert(sizeof(sched_latency_histogram) == 8 * (1 + kBuckets));
static_assert(sizeof(sched_latency_ended) == 16);

constexpr std::uint64_t kHistogramBytes = 16u << 20;
constexpr std::uint64_t kSlotMask = (1u << SCHED_LATENCY_SLOT_BITS) - 1;

// Every slot costs its size on every CPU: bounded by bytes, not by a number that is dear on a large machine.
std::uint32_t slots_for(std::uint32_t wanted, std::uint32_t cpus) {
  if (wanted == 0)
    wanted = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kHistogramBytes / (cpus * sizeof(sched_latency_histogram)), 512, 4096));
  return std::clamp<std::uint32_t>(wanted, 2, SCHED_LATENCY_MAX_SLOTS);
}

Result<std::uint32_t> possible_cpus() {
  int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return system_error(-cpus, "cannot count the CPUs");
  return static_cast<std::uint32_t>(cpus);
}

void add(Histogram& total, const sched_latency_histogram& cpu) {
  total.sum_ns += cpu.sum_ns;
  for (std::size_t i = 0; i < kBuckets; ++i) total.buckets[i] += cpu.buckets[i];
}

}  // namespace

BpfProbe::BpfProbe(Source source, BpfObject object, std::uint32_t slots)
    : source_(source), object_(std::move(object)), slots_(slots), cpus_(0) {}

BpfProbe::~BpfProbe() = default;

Result<std::unique_ptr<Probe>> BpfProbe::open(Source source, const CgroupTree& tree,
                                              const ProbeOptions& options) {
  const std::uint32_t cpus = TRY(possible_cpus());
  const std::uint32_t slots = slots_for(options.slots, cpus);
  BpfObject object = TRY(BpfObject::load(source, tree.hierarchy_id(), slots, options));
  std::unique_ptr<BpfProbe> probe(new BpfProbe(source, std::move(object), slots));
  probe->cpus_ = cpus;
  TRY(probe->start());
  return std::unique_ptr<Probe>(std::move(probe));
}

Result<void> BpfProbe::start() {
  owners_ = TRY(MappedArray::open(object_.slot_owners(), slots_));
  cache_ = TRY(MappedArray::open(object_.slot_cache(), SCHED_LATENCY_CACHE_ENTRIES));
  values_.resize(std::size_t{slots_} * cpus_);
  keys_.resize(slots_);
  for (std::uint32_t slot = slots_ - 1; slot > SCHED_LATENCY_NO_CGROUP_SLOT; --slot)
    if (bpf_map_update_elem(object_.free_slots(), nullptr, &slot, BPF_ANY) != 0)
      return system_error(errno, "cannot offer a slot");
  return object_.start();
}

Result<Reading> BpfProbe::read(std::span<const CgroupDirectory>) {
  const auto ended = TRY(take_ended());
  forget_cached(ended);
  const std::uint32_t n = slots_to_read();
  TRY(read_slots(n));

  Reading reading;
  reading.slots = slots_ - 1;
  reading.unassigned = total_of(SCHED_LATENCY_NO_CGROUP_SLOT);
  reading.lost_waits = TRY(lost_waits());
  for (const sched_latency_ended& cgroup : ended) {
    reading.ended.push_back({cgroup.cgroup, total_of(cgroup.slot)});
    TRY(free_slot(cgroup.slot));
  }
  for (std::uint32_t slot = 1; slot < n; ++slot)
    if (std::uint64_t owner = owners_.load(slot)) reading.cgroups.push_back({owner, total_of(slot)});
  reading.slots_used = static_cast<std::uint32_t>(reading.cgroups.size());
  return reading;
}

Result<std::vector<sched_latency_ended>> BpfProbe::take_ended() {
  std::vector<sched_latency_ended> all;
  sched_latency_ended ended{};
  while (bpf_map_lookup_and_delete_elem(object_.ended_slots(), nullptr, &ended) == 0) all.push_back(ended);
  if (errno != ENOENT) return system_error(errno, "cannot ask for the removed cgroups");
  return all;
}

// So that a last thread of a removed cgroup cannot write into a slot that has a new owner, and cgroups that
// found no slot look again.
void BpfProbe::forget_cached(std::span<const sched_latency_ended> ended) {
  if (ended.empty()) return;
  std::unordered_set<std::uint64_t> slots = {SCHED_LATENCY_SLOT_UNAVAILABLE};
  for (const sched_latency_ended& cgroup : ended) slots.insert(cgroup.slot);
  for (std::size_t i = 0; i < cache_.size(); ++i)
    if (std::uint64_t entry = cache_.load(i); entry != 0 && slots.contains(entry & kSlotMask))
      cache_.store(i, 0);
}

std::uint32_t BpfProbe::slots_to_read() const {
  std::uint32_t n = slots_;
  while (n > 1 && owners_.load(n - 1) == 0) --n;
  return n;
}

Result<void> BpfProbe::read_slots(std::uint32_t n) {
  std::uint32_t next = 0;
  std::uint32_t count = n;
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  int status = bpf_map_lookup_batch(object_.histograms(), nullptr, &next, keys_.data(), values_.data(),
                                    &count, &options);
  const bool is_complete = (status == 0 || errno == ENOENT) && count == n;
  return is_complete ? Result<void>() : read_slots_one_by_one(n);
}

// Before 5.13 the kernel has no batches of per-CPU arrays.
Result<void> BpfProbe::read_slots_one_by_one(std::uint32_t n) {
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (bpf_map_lookup_elem(object_.histograms(), &slot, &values_[std::size_t{slot} * cpus_]) != 0)
      return system_error(errno, "cannot read a histogram");
  return {};
}

Histogram BpfProbe::total_of(std::uint32_t slot) const {
  Histogram total;
  for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) add(total, values_[std::size_t{slot} * cpus_ + cpu]);
  total.count = std::accumulate(total.buckets.begin(), total.buckets.end(), std::uint64_t{0});
  return total;
}

Result<void> BpfProbe::free_slot(std::uint32_t slot) {
  const std::vector<sched_latency_histogram> zeros(cpus_);
  if (bpf_map_update_elem(object_.histograms(), &slot, zeros.data(), BPF_ANY) != 0)
    return system_error(errno, "cannot clear a slot");
  owners_.store(slot, 0);
  if (bpf_map_update_elem(object_.free_slots(), nullptr, &slot, BPF_ANY) != 0)
    return system_error(errno, "cannot offer a slot again");
  return {};
}

Result<std::uint64_t> BpfProbe::lost_waits() {
  std::vector<std::uint64_t> each(cpus_);
  const std::uint32_t zero = 0;
  if (bpf_map_lookup_elem(object_.lost_waits(), &zero, each.data()) != 0)
    return system_error(errno, "cannot read the number of lost waits");
  return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
}

}  // namespace koord::sched_latency
