// SPDX-License-Identifier: Apache-2.0
// MemoryStatFile: memory.stat of a cgroup that may be missing. The host reads this costly file less often than an
// advisor ticks, and returns cached values in between. Each reading is returned only once, so no old value is sent as a
// new one. On the instance's strand.
#pragma once

#include "koordetector/subjects.hpp"
#include "plugins/shared/memory/cgroup_memory.hpp"

namespace koord::memory {

class MemoryStatFile {
 public:
  // Returns nullopt if the cgroup or file is missing, or if this reading was returned before. Throws plugin::Failure if
  // the file exists but cannot be read.
  std::optional<MemoryStat> read_new(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                                     std::uint64_t now_ns) {
    const auto reading = file_.read(host, cgroup, dir, now_ns);
    there_ = reading.has_value();
    if (!reading || reading->read_ns == given_ns_) return std::nullopt;
    given_ns_ = reading->read_ns;
    const auto& values = reading->values;
    return MemoryStat{values[0], values[1], values[2], values[3], values[4]};
  }

  // Returns whether the last call found the file.
  bool there() const { return there_; }

 private:
  plugin::CgroupValues<kMemoryStatKeys.size()> file_{"memory.stat", kMemoryStatKeys};
  std::uint64_t given_ns_ = 0;
  bool there_ = false;
};

}  // namespace koord::memory
