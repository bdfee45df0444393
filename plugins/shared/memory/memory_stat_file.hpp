// SPDX-License-Identifier: Apache-2.0
// MemoryStatFile: memory.stat of a cgroup that may not be there. The host reads this costly file less often
// than an advisor ticks and answers from memory between: each reading is given once, so that no old value is
// sent as a new one. On the instance's strand.
#pragma once

#include "koordetector/subjects.hpp"
#include "plugins/shared/memory/cgroup_memory.hpp"

namespace koord::memory {

class MemoryStatFile {
 public:
  // Nothing: no such cgroup or file, or nothing that was not given before. Throws plugin::Failure when the
  // file is there and cannot be read.
  std::optional<MemoryStat> read_new(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                                     std::uint64_t now_ns) {
    const auto reading = file_.read(host, cgroup, dir, now_ns);
    there_ = reading.has_value();
    if (!reading || reading->read_ns == given_ns_) return std::nullopt;
    given_ns_ = reading->read_ns;
    const auto& values = reading->values;
    return MemoryStat{values[0], values[1], values[2], values[3], values[4]};
  }

  // Did the last call find the file?
  bool there() const { return there_; }

 private:
  plugin::CgroupValues<kMemoryStatKeys.size()> file_{"memory.stat", kMemoryStatKeys};
  std::uint64_t given_ns_ = 0;
  bool there_ = false;
};

}  // namespace koord::memory
