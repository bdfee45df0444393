// SPDX-License-Identifier: Apache-2.0
#include "core/hook/creation.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::hook;

namespace {

using Setting = host::HookVerdict::Setting;
using Scale = host::HookVerdict::Scale;

host::HookVerdict verdict(std::vector<Setting> settings, std::vector<Scale> scales = {}) {
  return {.settings = std::move(settings), .scales = std::move(scales)};
}

nri::Pod best_effort_pod() {
  return {.id = "sandbox",
          .name = "etl",
          .uid = "u1",
          .namespace_name = "batch",
          .labels = {{"koordinator.sh/qosClass", "BE"}},
          .cgroup_parent = "/kubepods/besteffort/podu1"};
}

}  // namespace

TEST_CASE("a pod that the state knows is the state's, with its spec") {
  state::Snapshot snapshot;
  state::Pod known;
  known.uid = "u1";
  known.name = "of-the-state";
  snapshot.pods = {{known}};
  CHECK(pod_of(best_effort_pod(), snapshot).name == "of-the-state");
}

TEST_CASE("a pod that the state does not know yet has its class, and the resources that the webhook has annotated") {
  nri::Pod pod = best_effort_pod();
  pod.annotations["node.koordinator.sh/extended-resource-spec"] =
      R"({"containers": {"main": {"requests": {"kubernetes.io/batch-cpu": "500"}, "limits": {"kubernetes.io/batch-cpu": 800}}}})";
  const state::Pod made = pod_of(pod, {});
  CHECK(made.namespace_ == "batch");
  CHECK(made.kube_qos == state::KubeQos::best_effort);
  CHECK(made.koord_qos == state::KoordQos::be);
  CHECK(made.cgroup_dir == "kubepods/besteffort/podu1");
  REQUIRE(made.containers.size() == 1);
  CHECK(made.containers[0].name == "main");
  CHECK(made.containers[0].resources == std::vector<state::Resource>{{"kubernetes.io/batch-cpu", 500, 800}});
}

TEST_CASE("an annotation of a pod's author that cannot be read leaves the pod without those resources") {
  for (const char* annotation : {"", "[]", "{", R"({"containers": []})", R"({"containers": {"main": 1}})",
                                 R"({"containers": {"main": {"limits": {"kubernetes.io/batch-cpu": "much"}}}})"}) {
    CAPTURE(annotation);
    nri::Pod pod = best_effort_pod();
    pod.annotations["node.koordinator.sh/extended-resource-spec"] = annotation;
    const state::Pod made = pod_of(pod, {});
    for (const state::Container& container : made.containers) CHECK(container.resources.empty());
  }
}

TEST_CASE("the cgroup of a container: as runtimes write it with systemd and without, and what is none") {
  CHECK(cgroup_dir_of("kubepods-besteffort-podu1.slice:cri-containerd:abc") ==
        "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice/cri-containerd-abc.scope");
  CHECK(cgroup_dir_of("/kubepods/podu1/abc") == "kubepods/podu1/abc");
  CHECK(cgroup_dir_of("no-slice:cri-containerd:abc") == "");
  CHECK(cgroup_dir_of("a.slice:abc") == "");
  for (const std::string& hostile :
       {std::string("/../kubepods"), std::string("kubepods//pod"), std::string("pod/."), std::string("pod\0", 4),
        std::string("/x/-a.slice:cri:b"), std::string("a.slice:../../b:c"), std::string("/")}) {
    CAPTURE(hostile);
    CHECK(cgroup_dir_of(hostile) == "");
  }
  CHECK(cgroup_dir_of(std::string(5000, '-') + ".slice:cri-containerd:abc") == "");
}

TEST_CASE("a container without an id is below its pod, so that caps around the pod count") {
  CHECK(new_cgroup_of(pod_of(best_effort_pod(), {})) == "kubepods/besteffort/podu1/new");
  CHECK(new_cgroup_of({}) == "");
}

TEST_CASE("hooks are not asked about the agent's own pod, pods of the node, and pods with hands off") {
  state::Pod pod;
  pod.uid = "u1";
  CHECK(why_bypassed(pod, "") == "");
  CHECK(why_bypassed(pod, "u2") == "");
  CHECK(why_bypassed(pod, "u1") == "it is the agent's own pod");
  pod.annotations["koordetector.sh/hands-off"] = "cpu.max";
  CHECK(why_bypassed(pod, "") == "");
  pod.annotations["koordetector.sh/hands-off"] = "true";
  CHECK(why_bypassed(pod, "") == "it has the annotation koordetector.sh/hands-off");
  pod.annotations.clear();
  pod.priority = 2000001000;
  CHECK(why_bypassed(pod, "") == "its priority is system-node-critical");
}

TEST_CASE("knobs and plugins that the pod's owner excludes are not set") {
  state::Pod pod;
  pod.annotations["koordetector.sh/hands-off"] = "cpu.max, hook-gpu";
  host::HookVerdict answer = verdict({{"linux.cpu.shares", "512", "hook-batch"},
                                      {"linux.cpu.quota", "80000", "hook-batch"},
                                      {"env:A", "1", "hook-gpu"}},
                                     {{"linux.cpu.quota", 0.8, "hook-normalization"}});
  drop_hands_off(answer, pod);
  REQUIRE(answer.settings.size() == 1);
  CHECK(answer.settings[0].field == "linux.cpu.shares");
  CHECK(answer.scales.empty());
}

TEST_CASE("fields become the values of an adjustment; fields that no hook sets stay unset") {
  const nri::Adjustment adjustment = adjustment_of(verdict({{"linux.cpu.shares", "512", "a"},
                                                            {"linux.cpu.quota", "80000", "a"},
                                                            {"linux.cpuset.cpus", "0-3", "a"},
                                                            {"linux.memory.limit", "1048576", "a"},
                                                            {"linux.oom_score_adj", "999", "a"},
                                                            {"linux.rdt.closid", "koord-a", "a"},
                                                            {"device:/dev/fuse", "c 10:229 0600", "a"},
                                                            {"mount:/run/lock", "/run/lock ro", "a"},
                                                            {"env:NAME", "value", "a"},
                                                            {"annotation:key", "text", "a"}}),
                                                   {}, false);
  CHECK(adjustment ==
        nri::Adjustment{
            .annotations = {{"key", "text"}},
            .env = {{"NAME", "value"}},
            .mounts = {{.destination = "/run/lock", .type = "bind", .source = "/run/lock", .options = {"rbind", "ro"}}},
            .devices = {{.path = "/dev/fuse", .type = "c", .major = 10, .minor = 229, .file_mode = 0600}},
            .resources = {.cpu_shares = 512,
                          .cpu_quota_us = 80000,
                          .cpu_period_us = 100000,
                          .cpus = "0-3",
                          .memory_limit_bytes = 1048576,
                          .memory_swap_bytes = -1,
                          .rdt_class = "koord-a"},
            .oom_score_adj = 999});
  CHECK(adjustment_of(verdict({}), {}, false) == nri::Adjustment());
}

TEST_CASE("cpu.idle is a file of cgroup v2; v1 gets it from the kept answers") {
  const host::HookVerdict idle = verdict({{"linux.cpu.idle", "1", "a"}});
  CHECK(resources_of(idle, {}, true).unified == nri::TextMap{{"cpu.idle", "1"}});
  CHECK(resources_of(idle, {}, false) == nri::Resources());
}

TEST_CASE("factors multiply the hook's value, or that of the runtime's request; no limit stays no limit") {
  const std::vector<Scale> factors = {{"linux.cpu.quota", 0.8, "a"}, {"linux.cpu.quota", 0.5, "b"}};
  CHECK(resources_of(verdict({}, factors), {.cpu_quota_us = 50000}, false).cpu_quota_us == 20000);
  CHECK(resources_of(verdict({{"linux.cpu.quota", "100000", "c"}}, factors), {.cpu_quota_us = 50000}, false)
            .cpu_quota_us == 40000);
  CHECK(resources_of(verdict({}, factors), {.cpu_quota_us = -1}, false).cpu_quota_us == -1);
  CHECK(resources_of(verdict({}, factors), {}, false).cpu_quota_us == std::nullopt);
  // the kernel's minimum
  CHECK(resources_of(verdict({}, factors), {.cpu_quota_us = 1100}, false).cpu_quota_us == 1000);
}

TEST_CASE("a memory limit leaves room in that of memory and swap together") {
  const host::HookVerdict more = verdict({{"linux.memory.limit", "2097152", "a"}});
  CHECK(resources_of(more, {.memory_swap_bytes = 1048576}, false).memory_swap_bytes == 2097152);
  CHECK(resources_of(more, {.memory_swap_bytes = 4194304}, false).memory_swap_bytes == std::nullopt);
  CHECK(resources_of(more, {}, false).memory_swap_bytes == -1);
}

TEST_CASE("the values of the runtime without hooks: for changed knobs, in the form of an intent") {
  const host::HookVerdict answer =
      verdict({{"linux.cpu.shares", "512", "batch"}, {"linux.memory.limit", "1048576", "batch"}},
              {{"linux.cpu.quota", 0.8, "normalization"}});
  CHECK(unadjusted_of(answer, {.resources = {.cpu_shares = 2}}) ==
        std::vector<Unadjusted>{
            {"cpu.shares", "2", "batch"}, {"cpu.max", "max 100000", "normalization"}, {"memory.max", "max", "batch"}});
  CHECK(
      unadjusted_of(answer, {.resources = {.cpu_quota_us = 50000, .cpu_period_us = 50000, .memory_limit_bytes = 9}}) ==
      std::vector<Unadjusted>{
          {"cpu.shares", "1024", "batch"}, {"cpu.max", "50000 50000", "normalization"}, {"memory.max", "9", "batch"}});
  CHECK(unadjusted_of(verdict({{"env:A", "1", "a"}}), {}).empty());
}

TEST_CASE(
    "a runtime's container is not idle, has the score 0 and is in the root's resctrl group, if not asked otherwise") {
  const host::HookVerdict answer =
      verdict({{"linux.cpu.idle", "1", "a"}, {"linux.oom_score_adj", "500", "b"}, {"linux.rdt.closid", "gold", "c"}});
  CHECK(unadjusted_of(answer, {.resources = {.cpu_shares = 512}}) ==
        std::vector<Unadjusted>{{"cpu.idle", "0 512", "a"}, {"oom_score_adj", "0", "b"}, {"resctrl.group", "/", "c"}});
  CHECK(unadjusted_of(answer,
                      {.oom_score_adj = -998, .resources = {.rdt_class = "iron", .unified = {{"cpu.idle", "1"}}}}) ==
        std::vector<Unadjusted>{
            {"cpu.idle", "1 1024", "a"}, {"oom_score_adj", "-998", "b"}, {"resctrl.group", "iron", "c"}});
}

TEST_CASE("the set of CPUs that a runtime was not asked for is empty") {
  const host::HookVerdict answer = verdict({{"linux.cpuset.cpus", "1", "a"}, {"linux.cpuset.mems", "0", "a"}});
  CHECK(unadjusted_of(answer, {.resources = {.cpus = "0-3"}}) ==
        std::vector<Unadjusted>{{"cpuset.cpus", "0-3", "a"}, {"cpuset.mems", "", "a"}});
}

TEST_CASE("a resctrl group of our own is left to its strategy, which removes it") {
  CHECK(unadjusted_of(verdict({{"linux.rdt.closid", "koord-pod-u1", "a"}}), {}).empty());
}

TEST_CASE("the runtime's request as JSON: members that CRI has, values that are set") {
  CHECK(
      cri_json_of(best_effort_pod()) ==
      R"({"metadata":{"name":"etl","namespace":"batch","uid":"u1"},"linux":{"cgroup_parent":"/kubepods/besteffort/podu1"}})");
  CHECK(cri_json_of(nri::Container{.name = "main", .resources = {.cpu_shares = 2, .cpus = "0-1"}}) ==
        R"({"metadata":{"name":"main"},"linux":{"resources":{"cpu_shares":2,"cpuset_cpus":"0-1"}}})");
  CHECK(cri_json_of(nri::Container()) == R"({"metadata":{"name":""},"linux":{"resources":{}}})");
}

TEST_CASE(
    "the kubelet's static policy gives CPUs to a guaranteed container with whole CPUs, of a new pod by its shares") {
  state::Snapshot snapshot;
  state::Pod known;
  known.kube_qos = state::KubeQos::guaranteed;
  const state::Container whole{.resources = {{"cpu", 2000, 2000}}}, part{.resources = {{"cpu", 1500, 1500}}};
  CHECK_FALSE(has_own_cpus(snapshot, known, whole, {}));
  snapshot.kubelet.emplace().cpu_manager_policy = "static";
  CHECK(has_own_cpus(snapshot, known, whole, {}));
  CHECK_FALSE(has_own_cpus(snapshot, known, part, {.cpu_shares = 2048}));
  CHECK(has_own_cpus(snapshot, known, {}, {.cpu_shares = 2048}));
  CHECK_FALSE(has_own_cpus(snapshot, known, {}, {.cpu_shares = 2049}));
  CHECK_FALSE(has_own_cpus(snapshot, known, {}, {}));
  known.kube_qos = state::KubeQos::burstable;
  CHECK_FALSE(has_own_cpus(snapshot, known, whole, {}));
}

TEST_CASE("factors that would throttle a container on its own CPUs are dropped, in shadow too") {
  host::HookVerdict dropped =
      verdict({{"linux.cpu.shares", "512", "a"}}, {{"linux.cpu.quota", 0.8, "a"}, {"linux.cpu.quota", 1.2, "b"}});
  dropped.in_shadow = {{"linux.cpu.quota", "× 0.8", "a"}, {"linux.cpu.quota", "× 1.2", "b"}, {"env:A", "0.8", "c"}};
  drop_throttling(dropped);
  REQUIRE(dropped.scales.size() == 1);
  CHECK(dropped.scales[0].factor == 1.2);
  REQUIRE(dropped.in_shadow.size() == 2);
  CHECK(dropped.in_shadow[0].value == "× 1.2");
  CHECK(resources_of(dropped, {.cpu_quota_us = 200000}, true).cpu_quota_us == 240000);
}
