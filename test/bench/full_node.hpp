// SPDX-License-Identifier: Apache-2.0
// FullNode: a node with 250 pods of three containers, as benchmarks of strategies want one: its cgroup tree, proc, sys
// and resctrl are real files, each pod has annotations, the NodeSLO switches everything on, and each second something
// is measured.
#pragma once

#include <string_view>
#include <vector>

#include "test/support/fake_host.hpp"
#include "test/support/fake_samples.hpp"

namespace koord::bench {

inline constexpr int kPods = 250, kContainersOfPod = 3;

enum class Kernel {
  mainline,    // cgroup v2
  every_knob,  // and all files that some vendor's kernel has
};

class FullNode {
 public:
  explicit FullNode(Kernel kernel);

  test::FakeHost& host() { return *host_; }
  NodeRoots roots() const { return node_.roots(); }
  static std::string_view slo();  // the NodeSLO's spec

  // A second later: the advisors' measurements then, each time the same.
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
