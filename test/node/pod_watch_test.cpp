// SPDX-License-Identifier: Apache-2.0
// Pods that appear and disappear in this machine's cgroup trees. Needs root.
#include "core/state/pod_watch.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>

#include "core/cgroup/kube_root.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::state;
using namespace std::chrono_literals;
using koord::test::RealCgroup;

namespace {

struct Node {
  bool notices(const std::function<void()>& act) {
    const int before = changes;
    act();
    auto look = loop.every(2ms, [&] {
      if (changes > before) loop.stop();
    });
    auto limit = loop.after(30s, [&] { loop.stop(); });
    loop.run();
    return changes > before;
  }

  RealCgroup top{"pod-watch"};
  cgroup::KubeRoot root = *cgroup::kube_root_below(cgroup::Driver::cgroupfs, "/" + top.dir());
  event::Loop loop;
  int changes = 0;
  PodWatch watch{loop, *cgroup::Layout::detect(NodeRoots()), [this] { ++changes; }};
};

}  // namespace

TEST_CASE("pods and containers are noticed in the kernel's trees, and no watch is left of those that are gone") {
  Node node;
  node.watch.watch(node.root);
  CHECK(node.watch.detail() == "inotify on 2 directories");
  for (int round = 0; round < 3; ++round) {
    std::optional<RealCgroup> kubepods, besteffort, pod, container;
    kubepods.emplace(node.top, "kubepods");
    besteffort.emplace(*kubepods, "besteffort");
    CHECK(node.notices([&] { pod.emplace(*besteffort, "podu1"); }));
    CHECK(node.notices([&] { container.emplace(*pod, "c1"); }));
    CHECK(node.watch.detail() == "inotify on 5 directories");
    CHECK(node.notices([&] { container.reset(); }));
    CHECK(node.notices([&] { pod.reset(); }));
    besteffort.reset();
    kubepods.reset();
    // The next poll finds that they are removed.
    RealCgroup again(node.top, "kubepods"), guaranteed_pod(again, "podu2");
    CHECK(node.notices([&] {}));
    CHECK(node.watch.detail() == "inotify on 4 directories");
  }
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
