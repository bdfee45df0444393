// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/bpf_probe.hpp"

#include <string>

#include "bpf/sched_latency/sched_latency.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/sched_latency/sched_latency.skel.h"
#pragma GCC diagnostic pop

namespace koord::sched_latency {
namespace {

using latency::CgroupSlots;
using latency::ProgramSource;
using latency::SlotPrograms;

constexpr const char* kThrottled = "throttled_slots";

// Returns the programs in the order of their start. Programs that see new threads start before the program that lists
// the existing threads, so no thread is missed.
ProgramSource programs_of(Source source) {
  const std::string_view name = name_of(source);
  switch (source) {
    case Source::sched_info:
      return {name,
              {"on_cgroup_rmdir", "for_each_new_thread", "for_each_existing_thread", "sched_info_on_switch"},
              {"runnable_threads"}};
    case Source::task_storage:
      return {name,
              {"on_cgroup_rmdir", "for_each_new_thread", "for_each_existing_thread", "task_storage_on_wakeup",
               "task_storage_on_wakeup_new", "task_storage_on_switch"},
              {"runnable_threads", kThrottled}};
    case Source::raw_tracepoint:
      return {name,
              {"raw_on_cgroup_rmdir", "raw_on_wakeup", "raw_on_wakeup_new", "raw_on_switch"},
              {"threads", kThrottled}};
    case Source::schedstat:
      return {name, {}, {}};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Probe>> BpfProbe::open(Source source, const latency::CgroupTree& tree,
                                              const ProbeOptions& options) {
  const std::uint32_t cpus = TRY(bpf::possible_cpus());
  latency::SlotObject object{.per_cpu = true,
                             .map_entries = {{"runnable_threads", options.threads}},
                             .slot_maps = {kThrottled},
                             .slot_bytes = sizeof(sched_throttled)};
  object.file.name = "sched_latency";
  object.file.bytes = sched_latency__elf_bytes(&object.file.size);
  SlotPrograms programs = TRY(SlotPrograms::open(object, programs_of(source), tree, {options.btf, options.slots, {}}));
  return std::unique_ptr<Probe>(new BpfProbe(source, std::move(programs), cpus));
}

Result<Reading> BpfProbe::read(std::span<const latency::CgroupDirectory>) {
  CgroupSlots& slots = programs_.slots();
  TRY(slots.refresh());
  std::vector<sched_throttled> throttled;
  if (source_ == Source::sched_info) throttled = TRY(programs_.read_slots<sched_throttled>(kThrottled, cpus_));
  Reading reading = latency::reading_of<Waits>(programs_, [&](std::uint32_t slot) {
    Waits waits{slots.total(slot), 0};
    for (std::size_t copy = slot * cpus_; !throttled.empty() && copy < (slot + 1) * cpus_; ++copy)
      waits.throttled_ns += throttled[copy].throttled_ns;
    return waits;
  });
  if (source_ == Source::sched_info) TRY(programs_.clear_ended(kThrottled, sizeof(sched_throttled) * cpus_));
  TRY(slots.free_ended());
  return reading;
}

}  // namespace koord::sched_latency
