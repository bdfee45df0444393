// SPDX-License-Identifier: Apache-2.0
// BpfProbe owns the programs of bpf/sched_latency; its destructor unloads them.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::sched_latency {

class BpfProbe final : public Probe {
 public:
  // Loads and starts the programs of a source other than schedstat.
  static Result<std::unique_ptr<Probe>> open(Source source, const latency::CgroupTree& tree,
                                             const ProbeOptions& options);

  Source source() const override { return source_; }
  Result<Reading> read(std::span<const latency::CgroupDirectory> watched) override;

 private:
  BpfProbe(Source source, latency::SlotPrograms programs, std::uint32_t cpus)
      : source_(source), programs_(std::move(programs)), cpus_(cpus) {}

  Source source_;
  latency::SlotPrograms programs_;
  std::uint32_t cpus_;
};

}  // namespace koord::sched_latency
