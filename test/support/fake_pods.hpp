// SPDX-License-Identifier: Apache-2.0
// Realistic pods: writes cgroups of pods and containers, with the kernel's files, into a fake node's tree. The same
// pods must give the same values on each layout.
//
//   FakeNode node;
//   const FakePod pod{.uid = "u-1", .containers = {{.id = std::string(64, 'a'), .use = {.cpu_us = 5}}}};
//   lay_out_pods(node, PodLayout::v1_systemd, {pod});
//   lay_out_pods(node, …);   // later: the same cgroups with other numbers
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
  v2_cgroupfs,  // one tree, plain names
  v1_systemd,   // a tree per controller, cpu and cpuacct mounted together, a vendor's kernel with pressure files
  hybrid,       // v1 controllers, each mounted alone, and a unified tree for the pressure files; cgroupfs driver
  kind,         // v2; the kubelet's root is below a different slice
};
inline constexpr std::array kPodLayouts = {PodLayout::v2_systemd, PodLayout::v2_cgroupfs, PodLayout::v1_systemd,
                                           PodLayout::hybrid, PodLayout::kind};
const char* name_of(PodLayout layout);

// A container's usage: totals since its start, and current values. The pod's cgroup gets the sums if the kernel sums
// up.
struct CgroupUse {
  std::int64_t cpu_us = 0;
  std::int64_t periods = 0, throttled = 0, throttled_us = 0;  // the pod's own quota counts the sums, too
  // Pages in total, half of them on each of two NUMA nodes.
  std::int64_t inactive_anon_pages = 0, active_anon_pages = 0, unevictable_pages = 0;
  std::int64_t inactive_file_pages = 0, active_file_pages = 0;
  int cpu_some_percent = 0;  // value over 10 s; 0 over 60 s and 300 s. The pod gets the largest value of its containers
  std::int64_t cpu_some_us = 0;
  std::int64_t oom_kills = 0, limit_hits = 0;
  std::int64_t read_bytes = 0, write_bytes = 0, reads = 0, writes = 0;  // block I/O on device 8:0
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

// Writes or overwrites the trees, including the directories of the QoS classes. The containers are named like
// containerd's containers and may run on CPUs 0 and 1.
void lay_out_pods(FakeNode& node, PodLayout layout, const std::vector<FakePod>& pods);

}  // namespace koord::test
