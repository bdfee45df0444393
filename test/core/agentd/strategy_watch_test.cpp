// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/strategy_watch.hpp"

#include <doctest/doctest.h>

#include "core/agentd/pod_subjects.hpp"

using namespace koord;
using namespace koord::agentd;

TEST_CASE("each cgroup of a pod is the pod's, with what its annotation says") {
  state::Snapshot snapshot;
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "web";
  pod.cgroup_dir = "kube/podu1";
  pod.annotations = {{"koordetector.sh/hands-off", "cpu.max"}};
  pod.containers.resize(2);
  pod.containers[0].name = "app";
  pod.containers[0].cgroup_dir = "kube/podu1/app";
  pod.containers[1].name = "waits";  // no cgroup yet
  snapshot.pods = {pod};
  const knob::Subjects subjects = subjects_of(snapshot);
  const knob::HandsOff said{.names = {"cpu.max"}};
  CHECK(*subjects.of("kube/podu1") == knob::Subject{"u1", "shop", "web", "", said});
  CHECK(*subjects.of("kube/podu1/app") == knob::Subject{"u1", "shop", "web", "app", said});
  CHECK(subjects.of("kube") == nullptr);
}

TEST_CASE("what is given back of one pod for one reason is one event, of no pod none") {
  const knob::Subject web{"u1", "shop", "web"}, app{"u1", "shop", "web", "app"}, other{"u2", "shop", "db"};
  const std::string why = "'burst' is off now";
  const auto stories = stories_of({{"burst", "a/app", "cpu.max", why, app},
                                   {"burst", "a", "cpu.max", why, web},
                                   {"burst", "a", "cpu.max.burst", why, web},
                                   {"burst", "b", "cpu.max", why, other},
                                   {"burst", "", "vm.min_free_kbytes", why, {}}});
  REQUIRE(stories.size() == 2);
  CHECK(stories[0].pod.pod_name == "web");
  CHECK(stories[0].what == "what burst had set is given back: cpu.max, cpu.max.burst");
  CHECK(stories[0].why == why);
  CHECK(stories[1].pod.pod_name == "db");
}
