// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/takeover.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/agentd/pod_subjects.hpp"
#include "core/agentd/takeover_koordlet.hpp"
#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/state/hub.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::agentd;

namespace {

const KubeDirs kDirs{"kubepods", "kubepods/burstable", "kubepods/besteffort"};

state::Pod pod_of(const std::string& name, state::KoordQos qos, state::KubeQos kube_qos,
                  std::vector<state::Resource> resources) {
  state::Pod pod;
  pod.uid = pod.name = name;
  pod.namespace_ = "shop";
  pod.phase = state::Phase::running;
  pod.koord_qos = qos;
  pod.kube_qos = kube_qos;
  pod.cgroup_dir = (kube_qos == state::KubeQos::best_effort ? kDirs.best_effort : kDirs.burstable) + "/pod" + name;
  pod.resources = resources;
  state::Container container;
  container.id = "containerd://" + name;
  container.name = "main";
  container.state = state::ContainerState::running;
  container.cgroup_dir = pod.cgroup_dir + "/c";
  container.resources = std::move(resources);
  pod.containers = {std::move(container)};
  return pod;
}

state::Pod service(std::int64_t limit_milli = 2000) {
  return pod_of("web", state::KoordQos::ls, state::KubeQos::burstable, {{"cpu", 1000, limit_milli}});
}
state::Pod batch() {
  return pod_of("job", state::KoordQos::be, state::KubeQos::best_effort, {{"kubernetes.io/batch-cpu", 1000, 3000}});
}

state::Snapshot snapshot_of(std::vector<state::Pod> pods) {
  state::Snapshot snapshot;
  snapshot.pods = std::move(pods);
  return snapshot;
}

// Returns "BASE (WHY)", or "" if no base is found.
std::string found(const state::Snapshot& snapshot, const std::string& dir, const std::string& knob,
                  const std::string& value, const CpuSet& cpus = {}, PodKnowledge known = PodKnowledge::specs) {
  const knob::Subjects subjects = subjects_of(snapshot);
  for (const TakeoverPlace& place : takeover_places(snapshot, kDirs, known)) {
    if (place.cgroup_dir != dir || place.knob->name != knob) continue;
    const auto stale = stale_value_at(place, *knob::parse_value(*place.knob, value), subjects, cpus);
    return stale ? spell(*place.knob, stale->base) + " (" + stale->why + ")" : "";
  }
  return "no such place";
}

}  // namespace

TEST_CASE("a quota that burst raised is set to the limit of the spec, for the container and its pod") {
  const state::Snapshot snapshot = snapshot_of({service()});
  CHECK(found(snapshot, "kubepods/burstable/podweb/c", "cpu.max", "600000 100000") == "200000 100000 (limit 2)");
  CHECK(found(snapshot, "kubepods/burstable/podweb", "cpu.max", "600000 100000") == "200000 100000 (limit 2)");
  CHECK(found(snapshot, "kubepods/burstable/podweb/c", "cpu.max", "200000 100000") == "");
  CHECK(found(snapshot_of({service(0)}), "kubepods/burstable/podweb", "cpu.max", "100000 100000").starts_with("max"));
}

TEST_CASE("without specs no quota of a pod is compared; while pods are unknown only classes are compared") {
  const state::Snapshot snapshot = snapshot_of({service(0), batch()});
  const auto found_in = [&](const std::string& dir, const std::string& knob, const std::string& value,
                            PodKnowledge known) {
    return found(snapshot, dir, knob, value, *CpuSet::parse("0-7"), known);
  };
  for (const char* dir : {"kubepods/burstable/podweb", "kubepods/burstable/podweb/c", "kubepods/besteffort/podjob",
                          "kubepods/besteffort/podjob/c"}) {
    CAPTURE(dir);
    CHECK(found_in(dir, "cpu.max", "100000 100000", PodKnowledge::cgroups) == "no such place");
    CHECK(found_in(dir, "memory.min", "4096", PodKnowledge::cgroups).starts_with("0 ("));
    CHECK(found_in(dir, "memory.min", "4096", PodKnowledge::nothing) == "no such place");
  }
  CHECK(found_in("kubepods/besteffort/podjob", "cpuset.cpus", "0-1", PodKnowledge::cgroups) ==
        "0-7 (the CPUs of all pods)");
  CHECK(found_in(kDirs.best_effort, "cpu.max", "50000 100000", PodKnowledge::nothing).starts_with("max"));
}

TEST_CASE("the reason for memory.min and memory.high names the kubelet's feature MemoryQoS, which sets them") {
  const state::Snapshot snapshot = snapshot_of({service()});
  CHECK(found(snapshot, "kubepods/burstable/podweb/c", "memory.min", "1") ==
        "0 (neither the pod's spec nor the kubelet sets it; with MemoryQoS the kubelet does)");
  CHECK(found(snapshot, "kubepods/burstable/podweb/c", "memory.high", "1")
            .ends_with("; with MemoryQoS the kubelet does)"));
  CHECK(found(snapshot, "kubepods/burstable", "memory.min", "1") ==
        "0 (the kubelet does not set this knob for a class; with MemoryQoS the kubelet does)");
  CHECK(found(snapshot, "kubepods/burstable", "memory.low", "1") ==
        "0 (the kubelet does not set this knob for a class)");
}

TEST_CASE("a quota is right without a limit where the kubelet may not enforce any, and for CPUs of the pod's own") {
  CHECK(found(snapshot_of({service()}), "kubepods/burstable/podweb", "cpu.max", "max 100000") == "");
  state::Pod own = service();
  own.koord_qos = state::KoordQos::lsr;
  for (const char* value : {"max 100000", "200000 100000"})
    CHECK(found(snapshot_of({own}), "kubepods/burstable/podweb/c", "cpu.max", value) == "");
}

TEST_CASE(
    "best-effort: the class has no quota, a pod has that of its batch-cpu or none, and all have the CPUs of all pods") {
  const state::Snapshot snapshot = snapshot_of({batch()});
  CHECK(found(snapshot, kDirs.best_effort, "cpu.max", "50000 100000").starts_with("max"));
  CHECK(found(snapshot, kDirs.best_effort, "cpu.max", "max 100000") == "");
  CHECK(found(snapshot, "kubepods/besteffort/podjob", "cpu.max", "1000 100000") ==
        "300000 100000 (limit 3000m of batch-cpu)");
  CHECK(found(snapshot, "kubepods/besteffort/podjob", "cpu.max", "max 100000") == "");
  CHECK(found(snapshot, kDirs.best_effort, "cpuset.cpus", "0-1", *CpuSet::parse("0-7")) ==
        "0-7 (the CPUs of all pods)");
  CHECK(found(snapshot, "kubepods/besteffort/podjob/c", "cpuset.cpus", "0-7", *CpuSet::parse("0-7")) == "");
  CHECK(found(snapshot_of({service()}), "kubepods/burstable/podweb/c", "cpuset.cpus", "0") == "no such place");
}

TEST_CASE("with the kubelet's static policy the CPUs of containers belong to the kubelet") {
  state::Snapshot snapshot = snapshot_of({batch()});
  snapshot.kubelet.emplace().cpu_manager_policy = "static";
  CHECK(found(snapshot, "kubepods/besteffort/podjob/c", "cpuset.cpus", "0") == "no such place");
  CHECK(found(snapshot, "kubepods/besteffort/podjob", "cpuset.cpus", "0", *CpuSet::parse("0-7")) ==
        "0-7 (the CPUs of all pods)");
}

TEST_CASE("memory, burst, identities and block device limits are set to their defaults") {
  struct Row {
    const char *dir, *knob, *value, *base;
  };
  const state::Snapshot snapshot = snapshot_of({service()});
  for (const Row& row : std::initializer_list<Row>{
           {"kubepods", "memory.min", "1048576", "0"},
           {"kubepods/burstable", "memory.low", "4096", "0"},
           {"kubepods/burstable/podweb", "memory.min", "4096", "0"},
           {"kubepods/burstable/podweb/c", "memory.high", "4096", "max"},
           {"kubepods/burstable/podweb/c", "memory.wmark_ratio", "95", "0"},
           {"kubepods/burstable/podweb/c", "memory.wmark_scale_factor", "20", "50"},
           {"kubepods/burstable/podweb/c", "memory.wmark_min_adj", "-25", "0"},
           {"kubepods/burstable/podweb", "cpu.max.burst", "2000000", "0"},
           {"kubepods/burstable", "cpu.bvt_warp_ns", "2", "0"},
           {"kubepods/besteffort", "io.max", "8:16 rbps=1048576", "8:16 rbps=max wbps=max riops=max wiops=max"},
           {"kubepods/besteffort", "io.weight", "8:16 50", "8:16 default"}}) {
    CAPTURE(row.dir);
    CAPTURE(row.knob);
    CHECK(found(snapshot, row.dir, row.knob, row.value).starts_with(std::string(row.base) + " ("));
  }
  // The kubelet sets this file.
  CHECK(found(snapshot, "kubepods/burstable/podweb/c", "memory.oom.group", "1") == "no such place");
  CHECK(found(snapshot, "kubepods", "memory.min", "0") == "");
}

TEST_CASE("an ended pod is not found, and only resctrl groups with koordlet's names are its own") {
  state::Pod ended = service();
  ended.phase = state::Phase::succeeded;
  CHECK(found(snapshot_of({ended}), "kubepods/burstable/podweb", "cpu.max", "1000 100000") == "no such place");
  CHECK(is_group_of_koordlet("BE"));
  CHECK_FALSE(is_group_of_koordlet("koord-BE"));
  CHECK_FALSE(is_group_of_koordlet("info"));
}

namespace {

// A cgroup v2 node with the values that koordlet left.
struct LeftNode {
  LeftNode() {
    for (const char* dir :
         {"kubepods", "kubepods/burstable", "kubepods/besteffort", "kubepods/burstable/podweb",
          "kubepods/burstable/podweb/c", "kubepods/besteffort/podjob", "kubepods/besteffort/podjob/c"}) {
      put(dir, "cpu.max", "max 100000\n");
      put(dir, "cpuset.cpus", "\n");
      put(dir, "memory.min", "0\n");
      put(dir, "io.max", "");
    }
    put("kubepods/burstable/podweb", "cpu.max", "600000 100000\n");
    put("kubepods/burstable/podweb/c", "cpu.max", "600000 100000\n");
    put("kubepods/burstable", "memory.min", "4096\n");
    put("kubepods/besteffort", "cpuset.cpus", "0-1\n");
    put("kubepods/besteffort", "io.max", "8:16 rbps=1048576 wbps=max riops=max wiops=max\n");
    node.write("sys/devices/system/cpu/online", "0-7\n");
    node.write("resctrl/BE/schemata", "L3:0=f\nMB:0=50\n");
    node.write("resctrl/other/schemata", "L3:0=f\n");
  }
  void put(const std::string& dir, const std::string& file, const std::string& text) {
    node.write("cgroup/" + dir + "/" + file, text);
  }
  void know(std::vector<state::Pod> pods) {
    hub.publish({.pods = std::move(pods)});
    hub.confirm(state::kPods, clock.now());
  }
  std::string get(const std::string& dir, const std::string& file) const {
    return read_file(node.path("cgroup/" + dir + "/" + file)).value_or("none");
  }

  test::FakeNode node{{"cgroup/cgroup.controllers", "cpu cpuset memory io\n"}};
  ManualClock clock;
  state::Hub hub;
  const cgroup::Layout layout = *cgroup::Layout::detect(node.roots());
  knob::MemoryOriginals originals;
  knob::Governor governor{clock, layout, node.roots(), originals};
  KoordletTakeover takeover{clock, layout, node.roots(), hub, governor, true};
};

std::map<std::string, std::string> bases(const api::TakeoverReport& report) {
  std::map<std::string, std::string> all;
  for (const api::TakeoverLine& line : report.lines) all[line.cgroup_dir + " " + line.knob] = line.base;
  return all;
}

}  // namespace

TEST_CASE("while no list of pods is confirmed, only classes are listed and set") {
  LeftNode left;
  left.hub.publish({.standalone = std::vector<state::Container>{}});
  const std::map<std::string, std::string> expected = {
      {"BE resctrl", "no group"},
      {"kubepods/besteffort cpuset.cpus", "0-7"},
      {"kubepods/besteffort io.max 8:16", "8:16 rbps=max wbps=max riops=max wiops=max"},
      {"kubepods/burstable memory.min", "0"}};
  CHECK(bases(left.takeover.list()) == expected);
  CHECK_FALSE(left.takeover.list().are_pods_known);
  left.hub.publish({.pods = std::vector{service(), batch()}});  // pods of a source that is not trusted yet
  const api::TakeoverReport done = left.takeover.apply();
  CHECK(bases(done) == expected);
  CHECK_FALSE(done.are_pods_known);
  CHECK(left.get("kubepods/burstable/podweb", "cpu.max") == "600000 100000\n");
}

TEST_CASE("pods of the cgroup tree keep their quotas, and are counted") {
  LeftNode left;
  left.know({service(0), batch()});
  const KoordletTakeover takeover{left.clock, left.layout, left.node.roots(), left.hub, left.governor, false};
  const api::TakeoverReport report = takeover.apply();
  CHECK(report.pods_without_spec == 2);
  CHECK(report.are_pods_known);
  CHECK_FALSE(bases(report).contains("kubepods/burstable/podweb cpu.max"));
  CHECK(left.get("kubepods/burstable/podweb", "cpu.max") == "600000 100000\n");
  CHECK(left.get("kubepods/burstable", "memory.min").starts_with("0"));
  CHECK(left.takeover.list().pods_without_spec == 0);
}

TEST_CASE("a dry run lists each leftover and writes nothing, then each has its base and a second run finds nothing") {
  LeftNode left;
  left.know({service(), batch()});
  const std::map<std::string, std::string> expected = {
      {"BE resctrl", "no group"},
      {"kubepods/besteffort cpuset.cpus", "0-7"},
      {"kubepods/besteffort io.max 8:16", "8:16 rbps=max wbps=max riops=max wiops=max"},
      {"kubepods/burstable memory.min", "0"},
      {"kubepods/burstable/podweb cpu.max", "200000 100000"},
      {"kubepods/burstable/podweb/c cpu.max", "200000 100000"}};
  CHECK(bases(left.takeover.list()) == expected);
  CHECK(left.get("kubepods/burstable/podweb", "cpu.max") == "600000 100000\n");
  const api::TakeoverReport done = left.takeover.apply();
  CHECK(bases(done) == expected);
  CHECK(left.get("kubepods/burstable/podweb", "cpu.max").starts_with("200000"));
  CHECK(left.get("kubepods/burstable/podweb/c", "cpu.max").starts_with("200000"));
  CHECK(left.get("kubepods/burstable", "memory.min").starts_with("0"));
  CHECK(left.originals.all().empty());
}
