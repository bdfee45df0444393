// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/slot_programs.hpp"

#include <bpf/bpf.h>

#include <cerrno>

namespace koord::latency {

Result<SlotPrograms> SlotPrograms::open(const SlotObject& object, const ProgramSource& source, const CgroupTree& tree,
                                        const SlotOptions& options) {
  const std::size_t slot_bytes = CgroupSlots::histogram_bytes(object.kinds) + object.slot_bytes;
  const std::uint32_t slots = TRY(CgroupSlots::number_for(options.slots, slot_bytes, object.per_cpu));
  bpf::LoadOptions load;
  load.btf = options.btf;
  load.programs = source.programs;
  load.unused_maps = source.unused_maps;
  load.map_entries = CgroupSlots::map_entries(slots, object.kinds);
  load.map_entries.insert(load.map_entries.end(), object.map_entries.begin(), object.map_entries.end());
  for (const char* map : object.slot_maps) load.map_entries.emplace_back(map, slots);
  load.constants = {{"hierarchy_id", tree.hierarchy_id()}};
  bpf::Programs programs = TRY(bpf::Programs::load(object.file, load));
  CgroupSlots opened = TRY(CgroupSlots::open(programs, slots, object.kinds));
  SlotPrograms running(source.name, std::move(programs), std::move(opened));
  TRY(running.programs_.start());
  return running;
}

Result<SlotPrograms> SlotPrograms::open_first(const SlotObject& object, std::span<const ProgramSource> sources,
                                              const CgroupTree& tree, const SlotOptions& options) {
  std::vector<Refusal> refused;
  std::string reasons;
  for (const ProgramSource& source : sources) {
    if (!options.only.empty() && source.name != options.only) continue;
    auto opened = open(object, source, tree, options);
    if (opened) {
      opened->refused_ = std::move(refused);
      return opened;
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(source.name) + ": " + opened.error().message();
    refused.push_back({source.name, opened.error().message()});
  }
  return invalid(reasons.empty() ? "there is no source '" + options.only + "'" : reasons);
}

Result<void> SlotPrograms::clear_ended(const char* map, std::size_t entry_bytes) const {
  const std::vector<char> zeros(entry_bytes);
  for (const SlotOwner& owner : slots_.ended())
    if (bpf_map_update_elem(programs_.map(map), &owner.slot, zeros.data(), BPF_ANY) != 0)
      return system_error(errno, "cannot clear a slot");
  return {};
}

}  // namespace koord::latency
