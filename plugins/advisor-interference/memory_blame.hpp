// SPDX-License-Identifier: Apache-2.0
// MemoryBlame owns the programs of bpf/memory_blame; its destructor unloads them. They count the pages that threads of
// each cgroup had to free before they got memory. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "plugins/shared/latency/slot_programs.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::interference {

struct FreedPages {
  std::uint64_t at_limit = 0;  // because of the limit of the cgroup or of an ancestor
  std::uint64_t on_node = 0;   // because the node had no free memory

  bool empty() const { return at_limit == 0 && on_node == 0; }
  FreedPages& operator+=(const FreedPages& other);
};
FreedPages added(const FreedPages& before, const FreedPages& now);

class MemoryBlame {
 public:
  // Loads the programs. `tree`: hierarchy of the memory controller. Fails with the reason if the kernel refuses the
  // programs.
  static Result<MemoryBlame> open(const latency::CgroupTree& tree, const std::string& btf = {});

  Result<latency::Reading<FreedPages>> read();

 private:
  explicit MemoryBlame(latency::SlotPrograms programs) : programs_(std::move(programs)) {}

  latency::SlotPrograms programs_;
};

}  // namespace koord::interference
