// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/bpf_probe.hpp"

#include <string>

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

// No thread may be missed between the programs that list threads and those that need what the first made.
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
              {"runnable_threads"}};
    case Source::raw_tracepoint:
      return {name, {"raw_on_cgroup_rmdir", "raw_on_wakeup", "raw_on_wakeup_new", "raw_on_switch"}, {"threads"}};
    case Source::schedstat:
      return {name, {}, {}};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Probe>> BpfProbe::open(Source source, const latency::CgroupTree& tree,
                                              const ProbeOptions& options) {
  latency::SlotObject object{.per_cpu = true, .map_entries = {{"runnable_threads", options.threads}}};
  object.file.name = "sched_latency";
  object.file.bytes = sched_latency__elf_bytes(&object.file.size);
  SlotPrograms programs = TRY(SlotPrograms::open(object, programs_of(source), tree, {options.btf, options.slots, {}}));
  return std::unique_ptr<Probe>(new BpfProbe(source, std::move(programs)));
}

Result<Reading> BpfProbe::read(std::span<const latency::CgroupDirectory>) {
  CgroupSlots& slots = programs_.slots();
  TRY(slots.look());
  Reading reading =
      latency::reading_of<latency::Histogram>(programs_, [&](std::uint32_t slot) { return slots.total(slot); });
  TRY(slots.free_ended());
  return reading;
}

}  // namespace koord::sched_latency
