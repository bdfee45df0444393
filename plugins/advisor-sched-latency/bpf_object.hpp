// SPDX-License-Identifier: Apache-2.0
// BpfObject owns an opened skeleton of bpf/sched_latency: loads the programs of one source, starts them, and
// gives the descriptors of their maps. MappedArray is a map of integers that the kernel shares with us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"

struct bpf_link;
struct bpf_map;
struct sched_latency;

namespace koord::sched_latency {

class BpfObject {
 public:
  static Result<BpfObject> load(Source source, int hierarchy_id, std::uint32_t slots,
                                const ProbeOptions& options);

  // Until this object ends.
  Result<void> start();

  int histograms() const;
  int slot_owners() const;
  int free_slots() const;
  int ended_slots() const;
  int slot_cache() const;
  int lost_waits() const;

 private:
  struct Close {
    void operator()(::sched_latency* skeleton) const;
    void operator()(bpf_link* link) const;
  };

  explicit BpfObject(Source source, ::sched_latency* skeleton) : source_(source), skeleton_(skeleton) {}

  Result<void> start_program(const char* name);

  Source source_;
  std::unique_ptr<::sched_latency, Close> skeleton_;
  std::vector<std::unique_ptr<bpf_link, Close>> links_;
};

class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(MappedArray&& other) noexcept;
  MappedArray& operator=(MappedArray&& other) noexcept;
  ~MappedArray();
  static Result<MappedArray> open(int map, std::size_t entries);

  // The kernel changes them at any time: load and store whole entries.
  std::uint64_t load(std::size_t i) const { return __atomic_load_n(&entries_[i], __ATOMIC_RELAXED); }
  void store(std::size_t i, std::uint64_t value) { __atomic_store_n(&entries_[i], value, __ATOMIC_RELAXED); }
  std::size_t size() const { return entries_.size(); }

 private:
  std::span<std::uint64_t> entries_;
};

}  // namespace koord::sched_latency
