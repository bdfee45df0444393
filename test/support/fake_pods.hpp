// SPDX-License-Identifier: Apache-2.0
// Real-looking pods: the cgroups of pods and containers and the kernel's files in them, as nodes out there keep them,
// written into a fake node's tree. The same pods on another layout must give the same values.
//
//   FakeNode node;
//   lay_out_pods(node, PodLayout::v1_systemd, {{.uid = "u-1", .containers = {{.id = std::string(64, 'a'), .use =
//   {.cpu_us = 5}}}}}); lay_out_pods(node, …);   // later: the same cgroups with other numbers
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cgroup/names.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

enum class PodLayout {
  v2_systemd,   // one tree, slices and scopes
  v2_cgroupfs,  // one tree, bare names
  v1_systemd,   // a tree a controller, cpu and cpuacct mounted as one, a vendor's kernel with pressure files
  hybrid,       // v1 controllers, each mounted alone, and a unified tree for the pressure files; cgroupfs
  kind,         // v2; the kubelet's root lies below a slice of its own
};
inline constexpr std::array kPodLayouts = {PodLayout::v2_systemd, PodLayout::v2_cgroupfs, PodLayout::v1_systemd,
                                           PodLayout::hybrid, PodLayout::kind};
const char* name_of(PodLayout layout);

// A container's usage since it began, and now. A pod's cgroup has the sums where the kernel adds up.
struct CgroupUse {
  std::int64_t cpu_us = 0;
  std::int64_t periods = 0, throttled = 0, throttled_us = 0;  // the pod's own quota has the sums as well
  // Pages of two NUMA nodes, half on each.
  std::int64_t inactive_anon_pages = 0, active_anon_pages = 0, unevictable_pages = 0;
  std::int64_t inactive_file_pages = 0, active_file_pages = 0;
  int cpu_some_percent = 0;  // over 10 s; over 60 and 300 s nothing. The pod has the largest of its containers'
  std::int64_t cpu_some_us = 0;
  std::int64_t oom_kills = 0, limit_hits = 0;
  std::int64_t read_bytes = 0, write_bytes = 0, reads = 0, writes = 0;  // on 8:0
};

struct FakeContainer {
  std::string id;  // 64 hexadecimal digits
  CgroupUse use;
};

struct FakePod {
  std::string uid;
  cgroup::KubeQos qos = cgroup::KubeQos::guaranteed;
  std::vector<FakeContainer> containers;
};

// Writes or overwrites the trees, the directories of the QoS classes among them. Containers are those of containerd and
// may run on the CPUs 0 and 1.
void lay_out_pods(FakeNode& node, PodLayout layout, const std::vector<FakePod>& pods);

}  // namespace koord::test
