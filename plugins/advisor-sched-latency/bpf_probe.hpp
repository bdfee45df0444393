// SPDX-License-Identifier: Apache-2.0
// BpfProbe owns the programs of bpf/sched_latency while they run in the kernel, and their maps; they leave
// the kernel with it. See bpf/sched_latency/sched_latency.h for the life of a slot, of which this is the
// user's half.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/advisor-sched-latency/bpf_object.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"

struct sched_latency_ended;
struct sched_latency_histogram;

namespace koord::sched_latency {

class BpfProbe final : public Probe {
 public:
  // Loads and starts the programs of one source, any but schedstat.
  static Result<std::unique_ptr<Probe>> open(Source source, const CgroupTree& tree,
                                             const ProbeOptions& options);
  ~BpfProbe() override;

  Source source() const override { return source_; }
  Result<Reading> read(std::span<const CgroupDirectory> watched) override;

 private:
  BpfProbe(Source source, BpfObject object, std::uint32_t slots);

  Result<void> start();
  Result<std::vector<sched_latency_ended>> take_ended();
  void forget_cached(std::span<const sched_latency_ended> ended);
  Result<void> read_slots(std::uint32_t n);
  Result<void> read_slots_one_by_one(std::uint32_t n);
  Histogram total_of(std::uint32_t slot) const;
  std::uint32_t slots_to_read() const;
  Result<void> free_slot(std::uint32_t slot);
  Result<std::uint64_t> lost_waits();

  Source source_;
  BpfObject object_;
  std::uint32_t slots_;
  std::uint32_t cpus_;
  MappedArray owners_, cache_;
  std::vector<sched_latency_histogram> values_;  // of the last reading, slot by slot, each CPU's
  std::vector<std::uint32_t> keys_;
};

}  // namespace koord::sched_latency
