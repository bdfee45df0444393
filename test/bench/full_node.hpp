// SPDX-License-Identifier: Apache-2.0
// FullNode: a node with 250 pods of three containers for benchmarks of strategies. Its trees (cgroup, proc, sys,
// resctrl) are plain files, each pod has annotations, and the NodeSLO enables everything. Samples are added each
// second.
#pragma once

#include <string_view>
#include <vector>

#include "test/support/fake_host.hpp"
#include "test/support/fake_samples.hpp"

namespace koord::bench {

inline constexpr int kPods = 250, kContainersOfPod = 3;

enum class Kernel {
  mainline,    // cgroup v2
  every_knob,  // plus all files of vendors' kernels
};

class FullNode {
 public:
  explicit FullNode(Kernel kernel);

  test::FakeHost& host() { return *host_; }
  NodeRoots roots() const { return node_.roots(); }
  static std::string_view slo();  // returns the NodeSLO's spec

  // Advances the clock by a second and adds the advisors' samples, which are the same each time.
  void pass_second();

 private:
  void write_files(Kernel kernel);
  void publish();

  test::FakeNode node_;
  std::vector<state::Pod> pods_;
  std::unique_ptr<test::FakeHost> host_;
  std::unique_ptr<test::FakeSamples> samples_;
};

}  // namespace koord::bench
