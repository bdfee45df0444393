// SPDX-License-Identifier: Apache-2.0
// MemoryBlame owns the programs of bpf/memory_blame while they run in the kernel; they leave it with this object. They
// count the pages that threads of each cgroup had to free before they got memory. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "plugins/shared/latency/slot_programs.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::interference {

struct FreedPages {
  std::uint64_t at_limit = 0;  // at its limit, or that of a cgroup above it
  std::uint64_t on_node = 0;   // because the node had nothing free

  bool empty() const { return at_limit == 0 && on_node == 0; }
  FreedPages& operator+=(const FreedPages& other);
};
FreedPages added(const FreedPages& before, const FreedPages& now);

class MemoryBlame {
 public:
  // `tree`: of the memory controller. Fails with the reason where the kernel does not accept the programs.
  static Result<MemoryBlame> open(const latency::CgroupTree& tree, const std::string& btf = {});

  Result<latency::Reading<FreedPages>> read();

 private:
  explicit MemoryBlame(latency::SlotPrograms programs) : programs_(std::move(programs)) {}

  latency::SlotPrograms programs_;
};

}  // namespace koord::interference
