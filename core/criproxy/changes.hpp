// SPDX-License-Identifier: Apache-2.0
// Changes: the fields of one request that hooks set. A field that no hook has set is absent, so zero, -1 and the empty
// text are values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace koord::criproxy {

struct ResourceChanges {
  std::optional<std::int64_t> cpu_period, cpu_quota, cpu_shares, memory_limit, memory_swap_limit, oom_score_adj;
  std::optional<std::string> cpuset_cpus, cpuset_mems;
  std::map<std::string, std::string> unified;

  bool operator==(const ResourceChanges&) const = default;
};

struct MountChange {
  std::string host_path;
  bool readonly = false;

  bool operator==(const MountChange&) const = default;
};

struct Changes {
  std::map<std::string, std::string> labels, annotations;
  std::optional<std::string> cgroup_parent;
  ResourceChanges resources;
  std::vector<std::pair<std::string, std::string>> envs;  // in the order of the variables
  std::map<std::string, MountChange> mounts;              // key: the path in the container
  std::map<std::string, std::string> devices;             // key: path; value: permissions, "rwm"

  bool operator==(const Changes&) const = default;
  bool empty() const { return *this == Changes{}; }
};

}  // namespace koord::criproxy
