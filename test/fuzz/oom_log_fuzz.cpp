// SPDX-License-Identifier: Apache-2.0
// Lines of the kernel log, with arbitrary names of processes and cgroups.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "plugins/advisor-memory-events/cgroup_index.hpp"
#include "plugins/advisor-memory-events/memory_events.hpp"
#include "plugins/advisor-memory-events/oom_log.hpp"

using namespace koord::memory_events;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  CgroupIndex index;
  index.add_pod("kubepods/pod1", 1);
  index.add_container("kubepods/pod1/c1", 2, 1);
  OomLog log;
  while (auto line = koord::next_field(text, '\n')) {
    const std::optional<OomKill> kill = log.feed(*line);
    if (!kill) continue;
    const Owner owner = index.find(kill->cgroup);
    const bool is_known = kill->pid >= 0 && (owner.container == 0 || owner.pod == 1);
    if (!is_known || !koord::is_valid_utf8(describe(*kill))) std::abort();
  }
  return 0;
}
