// SPDX-License-Identifier: Apache-2.0
// Pods and containers as a runtime describes them through NRI, and the changes that a plugin asks for. Only the fields
// that hooks use. A field that is unknown or unset is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/hook/nri/protobuf.hpp"

namespace koord::nri {

struct Runtime {
  std::string name;
  std::string version;
  std::string nri_version = {};  // since NRI 0.12
};

// In a request of the runtime, a value of zero is unset: containerd sends zeros for all that CRI leaves out. In an
// adjustment or update, zero is a value, and nullopt leaves the field as it is.
struct Resources {
  std::optional<std::uint64_t> cpu_shares;
  std::optional<std::int64_t> cpu_quota_us;
  std::optional<std::uint64_t> cpu_period_us;
  std::string cpus;  // NRI cannot express an empty set
  std::string mems;
  std::optional<std::int64_t> memory_limit_bytes;
  std::optional<std::int64_t> memory_swap_bytes;  // the limit of memory and swap together
  std::optional<std::string> rdt_class;           // ignored by an update
  TextMap unified;                                // files of cgroup v2

  bool operator==(const Resources&) const = default;
};

struct Mount {
  std::string destination;
  std::string type;
  std::string source;
  std::vector<std::string> options;

  bool operator==(const Mount&) const = default;
};

struct Device {
  std::string path;
  std::string type;  // "c", "b" or "p"
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<std::uint32_t> file_mode;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;

  bool operator==(const Device&) const = default;
};

struct Pod {
  std::string id;
  std::string name;
  std::string uid;
  std::string namespace_name;
  TextMap labels;
  TextMap annotations;  // those that the options keep
  std::string runtime_handler;
  std::uint32_t pid = 0;  // of the sandbox; zero before it starts
  std::vector<std::string> ips;
  std::string cgroup_parent;
  std::string cgroups_path;
  Resources overhead;
  Resources pod_resources;  // the sum of its containers, as the kubelet sends it
  Resources resources;      // of the sandbox
};

enum class ContainerState : std::uint8_t { unknown, created, paused, running, stopped };

struct Container {
  std::string id;
  std::string pod_id;
  std::string name;
  ContainerState state = ContainerState::unknown;
  TextMap labels;
  TextMap annotations;  // those that the options keep
  std::vector<std::string> args;
  std::vector<std::string> env;  // "NAME=VALUE"
  std::vector<Mount> mounts;
  std::vector<Device> devices;
  std::uint32_t pid = 0;  // zero before it starts
  std::string cgroups_path;
  std::optional<std::int64_t> oom_score_adj;
  Resources resources;
};

// Changes of a container that is being created. The name of an annotation, variable, mount or device with "-" in front
// removes it. To replace what another plugin set, remove it first.
struct Adjustment {
  TextMap annotations;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<Mount> mounts;
  std::vector<Device> devices;
  Resources resources;
  std::optional<std::int64_t> oom_score_adj;  // since NRI 0.7; older runtimes ignore it

  bool operator==(const Adjustment&) const = default;
};

// Changes of a container that exists. An update of a container that is being created is refused by the runtime.
struct Update {
  std::string container_id;
  Resources resources;
  bool ignore_failure = false;

  bool operator==(const Update&) const = default;
};

}  // namespace koord::nri
