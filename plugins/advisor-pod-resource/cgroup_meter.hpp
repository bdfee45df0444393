// SPDX-License-Identifier: Apache-2.0
// CgroupMeter: the open files of one pod's or container's cgroup and the series they feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-pod-resource/pod_resource.hpp"

namespace koord::pod_resource {

struct Services {
  const koord_host* host = nullptr;
  const koord_svc_cgroup* cgroup = nullptr;
};

struct Series {
  std::uint64_t cpu = 0, memory = 0;
};

class CgroupMeter {
 public:
  CgroupMeter(std::string dir, Series series, std::uint64_t max_gap_ns);

  const std::string& dir() const { return dir_; }

  // Reads both files and adds what they say to `batch`. A cgroup that is not there, or no longer, is ordinary: it is
  // looked for again after a while. So is one that a v1 hierarchy has and another has not: it gives what there is. Any
  // other failure is returned; the other file's value is still added.
  koord_status measure(const Services& services, std::uint64_t now_ns, plugin::Batch& batch);

 private:
  koord_status measure_cpu(plugin::Batch& batch);
  koord_status measure_memory(plugin::Batch& batch) const;
  koord_status open(const Services& services);
  void close(std::uint64_t now_ns);

  std::string dir_;
  Series series_;
  CpuMeter cpu_meter_;
  plugin::CgroupFile cpu_, memory_;
  bool opened_ = false;
  std::uint64_t retry_ns_ = 0;
};

}  // namespace koord::pod_resource
