// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/state/hub.hpp"

using namespace koord::state;

namespace {

std::vector<Pod> pods_up_to(int count) {
  std::vector<Pod> pods(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) pods[static_cast<std::size_t>(i)].uid = std::to_string(i);
  return pods;
}

}  // namespace

TEST_CASE("readers see whole snapshots with rising versions while two sources publish") {
  Hub hub;
  std::atomic<bool> done = false;
  std::atomic<int> broken = 0;
  std::thread reader([&] {
    for (std::uint64_t last = 0; !done;) {
      SnapshotPtr snapshot = hub.current();
      if (snapshot->versions.pods < last) ++broken;
      last = snapshot->versions.pods;
    }
  });
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) hub.publish({.node_slo = std::to_string(i)});
  });
  for (int i = 0; i < 200; ++i) hub.publish({.pods = pods_up_to(i % 7)});
  other.join();
  done = true;
  reader.join();
  CHECK(broken == 0);
  CHECK(hub.current()->versions.pods == 200);
  CHECK(hub.current()->versions.node_slo == 200);
}

TEST_CASE("a subscriber removed while others publish is not called afterwards") {
  Hub hub;
  std::atomic<bool> gone = false;
  std::atomic<int> late = 0;
  std::uint64_t id = hub.subscribe([&](std::uint32_t, const SnapshotPtr&) { late += gone ? 1 : 0; });
  std::thread publisher([&] {
    for (int i = 0; i < 200; ++i) hub.publish({.node_slo = std::to_string(i)});
  });
  hub.remove(id);
  gone = true;
  publisher.join();
  CHECK(late == 0);
}
