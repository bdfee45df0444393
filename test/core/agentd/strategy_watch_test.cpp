// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/strategy_watch.hpp"

#include <doctest/doctest.h>

#include "core/agentd/pod_subjects.hpp"
#include "core/state/classes.hpp"

using namespace koord;
using namespace koord::agentd;

TEST_CASE("each cgroup of a pod is assigned to the pod, with the pod's hands-off annotation") {
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
  const decision::HandsOff hands_off{.names = {"cpu.max"}};
  CHECK(*subjects.of("kube/podu1") == knob::Subject{"u1", "shop", "web", "", hands_off, false, {}, {"kube/podu1/app"}});
  CHECK(*subjects.of("kube/podu1/app") == knob::Subject{"u1", "shop", "web", "app", hands_off});
  CHECK(subjects.of("kube") == nullptr);
}

TEST_CASE("a pod has the limits of its spec and the kubelet's rules for quotas") {
  state::Snapshot snapshot;
  state::Pod pod;
  pod.uid = "u1";
  pod.cgroup_dir = "kube/podu1";
  pod.resources = {{"cpu", 500, 1500}, {"memory", 1000, 2000}};
  pod.containers.resize(2);
  pod.containers[0].cgroup_dir = "kube/podu1/app";
  pod.containers[0].name = "app";
  pod.containers[0].resources = {{"cpu", 500, 1500}, {"memory", 1000, state::kNoResource}};
  pod.containers[1].cgroup_dir = "kube/podu1/init";
  pod.containers[1].kind = state::ContainerKind::init;
  snapshot.pods = {pod};
  const knob::Subjects unknown = subjects_of(snapshot);
  CHECK(unknown.at("kube/podu1")->limits == knob::SpecLimits{1500, 2000});
  CHECK(unknown.at("kube/podu1/app")->limits == knob::SpecLimits{1500, {}});
  CHECK(unknown.at("kube/podu1")->containers == std::vector<std::string>{"kube/podu1/app"});
  CHECK(unknown.pod_of("kube/podu1/app") == "kube/podu1");
  CHECK(unknown.quota_rules() == knob::QuotaRules{});
  snapshot.kubelet.emplace().cpu_cfs_quota = false;
  snapshot.kubelet->cpu_cfs_quota_period_us = 50'000;
  CHECK(subjects_of(snapshot).quota_rules() == knob::QuotaRules{true, false, 50'000});
}

TEST_CASE(
    "containers of LSE and LSR pods have exclusive CPUs, and with the static policy guaranteed ones with whole CPUs, too") {
  struct Row {
    std::string label;
    state::KubeQos kube_qos;
    std::string policy;
    std::int64_t request;  // milli-cores
    bool pinned;
  };
  using state::KubeQos;
  const Row rows[] = {{"LSE", KubeQos::burstable, "none", 1500, true},
                      {"LSR", KubeQos::guaranteed, "none", 2000, true},
                      {"LSR", KubeQos::best_effort, "none", 2000, false},
                      {"", KubeQos::guaranteed, "none", 2000, false},
                      {"LS", KubeQos::guaranteed, "none", 2000, false},
                      {"", KubeQos::guaranteed, "static", 2000, true},
                      {"LS", KubeQos::guaranteed, "static", 2000, true},
                      {"LS", KubeQos::guaranteed, "static", 1500, false},
                      {"LS", KubeQos::guaranteed, "static", state::kNoResource, false},
                      {"LS", KubeQos::burstable, "static", 2000, false}};
  for (const Row& row : rows) {
    state::Snapshot snapshot;
    snapshot.kubelet.emplace().cpu_manager_policy = row.policy;
    state::Pod pod;
    pod.uid = "u1";
    if (!row.label.empty()) pod.labels[std::string(state::kQosLabel)] = row.label;
    pod.kube_qos = row.kube_qos;
    pod.koord_qos = state::koord_qos(pod.labels, pod.kube_qos);
    pod.cgroup_dir = "kube/podu1";
    state::Container& app = pod.containers.emplace_back();
    app.name = "app";
    app.cgroup_dir = "kube/podu1/app";
    app.resources = {{"cpu", row.request, row.request}};
    snapshot.pods = {pod};
    CAPTURE(row.policy);
    CAPTURE(row.request);
    CHECK(subjects_of(snapshot).pinned() ==
          (row.pinned ? std::set<std::string>{"kube/podu1/app"} : std::set<std::string>{}));
  }
}

TEST_CASE("a part of a hands-off annotation without effect is named with its pod and with the expected words") {
  state::Snapshot snapshot;
  std::vector<state::Pod> pods;
  for (const char* annotation : {"yes", "cpu.mx, cpu.max.burst", "true", "burst"}) {
    state::Pod& pod = pods.emplace_back();
    pod.namespace_ = "shop";
    pod.name = "web-" + std::to_string(pods.size() - 1);
    pod.annotations = {{"koordetector.sh/hands-off", annotation}};
  }
  snapshot.pods = std::move(pods);
  const std::string expected =
      "', which is neither a knob nor a strategy; expected \"true\", \"false\", or knobs and strategies separated by commas";
  CHECK(hands_off_problems(snapshot, {"burst"}) ==
        std::vector<std::string>{"pod shop/web-0: koordetector.sh/hands-off names 'yes" + expected,
                                 "pod shop/web-1: koordetector.sh/hands-off names 'cpu.mx" + expected});
}

TEST_CASE("reverts with one pod and reason are one event; reverts without a pod are none") {
  const knob::Subject web{"u1", "shop", "web"}, app{"u1", "shop", "web", "app"}, other{"u2", "shop", "db"};
  const std::string why = "'burst' is off now";
  const auto stories = stories_of({{"burst", "a/app", "cpu.max", why, app},
                                   {"burst", "a", "cpu.max", why, web},
                                   {"burst", "a", "cpu.max.burst", why, web},
                                   {"burst", "b", "cpu.max", why, other},
                                   {"burst", "", "vm.min_free_kbytes", why, {}}});
  REQUIRE(stories.size() == 2);
  CHECK(stories[0].pod.pod_name == "web");
  CHECK(stories[0].what == "reverted knobs set by burst: cpu.max, cpu.max.burst");
  CHECK(stories[0].why == why);
  CHECK(stories[1].pod.pod_name == "db");
}
