// SPDX-License-Identifier: Apache-2.0
#include "core/hook/unadjusted_values.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::hook;

namespace {

constexpr Time kStart{};

state::Pod pod_with(const std::string& id, const std::string& cgroup_dir) {
  state::Pod pod;
  pod.uid = "u1";
  state::Container container;
  container.name = "main";
  container.id = id;
  container.cgroup_dir = cgroup_dir;
  pod.containers.push_back(container);
  return pod;
}

state::Snapshot snapshot_of(state::Pod pod) {
  state::Snapshot snapshot;
  snapshot.pods = {{std::move(pod)}};
  return snapshot;
}

const std::vector<Unadjusted> kValues{{"cpu.shares", "2", "batch"}, {"memory.max", "max", "batch"}};

}  // namespace

TEST_CASE("the values of a new container come when the state shows it, once") {
  UnadjustedValues unadjusted;
  state::Pod unknown;
  unknown.uid = "u1";
  unadjusted.remember(unknown, "main", kValues, kStart);
  CHECK(unadjusted.take({}, kStart).empty());
  CHECK(unadjusted.take(snapshot_of(pod_with("", "")), kStart).empty());  // not made yet
  const auto taken = unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), kStart);
  REQUIRE(taken.size() == 1);
  REQUIRE(taken[0].size() == 2);
  CHECK(taken[0][0].cgroup_dir == "kubepods/u1/a");
  CHECK(taken[0][0].knob == "cpu.shares");
  CHECK(taken[0][0].before == "2");
  CHECK(taken[0][0].plugin == "batch");
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), kStart).empty());
}

TEST_CASE("the container that had the name before a restart does not get the values of the new one") {
  UnadjustedValues unadjusted;
  unadjusted.remember(pod_with("containerd://a", "kubepods/u1/a"), "main", kValues, kStart);
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), kStart).empty());
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://b", "kubepods/u1/b")), kStart).size() == 1);
}

TEST_CASE("values of a container that never comes are forgotten, and so are the oldest of too many") {
  UnadjustedValues unadjusted;
  unadjusted.remember(pod_with("", ""), "main", kValues, kStart);
  const Time later = kStart + UnadjustedValues::kPatience + Duration(1);
  CHECK(unadjusted.take({}, later).empty());
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), later).empty());
  unadjusted.remember(pod_with("", ""), "main", kValues, kStart);
  for (std::size_t i = 0; i < UnadjustedValues::kMostContainers; ++i)
    unadjusted.remember(pod_with("", ""), "other" + std::to_string(i), kValues, later);
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), later).empty());
}

TEST_CASE("an answer without values forgets those of an earlier attempt") {
  UnadjustedValues unadjusted;
  unadjusted.remember(pod_with("", ""), "main", kValues, kStart);
  unadjusted.remember(pod_with("", ""), "main", {}, kStart);
  CHECK(unadjusted.take(snapshot_of(pod_with("containerd://a", "kubepods/u1/a")), kStart).empty());
}
