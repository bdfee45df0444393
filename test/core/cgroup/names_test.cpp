// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/names.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::FakeNode;

namespace {

const std::string kUid = "0a1b2c3d-0000-4000-8000-123456789abc";
const std::string kId(64, 'f');
const KubeRoot kSystemd = default_kube_root(Driver::systemd);
const KubeRoot kCgroupfs = default_kube_root(Driver::cgroupfs);
const KubeRoot kKindSystemd = {Driver::systemd, "kubelet.slice/kubelet-kubepods.slice"};
const KubeRoot kKindCgroupfs = {Driver::cgroupfs, "kubelet/kubepods"};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

TEST_CASE("systemd pod directories repeat their parents and write dashes as underscores") {
  CHECK(pod_dir(kSystemd, KubeQos::burstable, kUid) ==
        "kubepods.slice/kubepods-burstable.slice/"
        "kubepods-burstable-pod0a1b2c3d_0000_4000_8000_123456789abc.slice");
  CHECK(pod_dir(kSystemd, KubeQos::guaranteed, "u-1") == "kubepods.slice/kubepods-podu_1.slice");
  CHECK(pod_dir(kKindSystemd, KubeQos::best_effort, "u") ==
        "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
        "kubelet-kubepods-besteffort-podu.slice");
}

TEST_CASE("cgroupfs pod directories are plain words") {
  CHECK(pod_dir(kCgroupfs, KubeQos::best_effort, kUid) == "kubepods/besteffort/pod" + kUid);
  CHECK(pod_dir(kCgroupfs, KubeQos::guaranteed, kUid) == "kubepods/pod" + kUid);
  CHECK(pod_dir(kKindCgroupfs, KubeQos::burstable, "u") == "kubelet/kubepods/burstable/podu");
}

TEST_CASE("a pod directory's name leads back to its uid and QoS") {
  for (const KubeRoot& root : {kSystemd, kCgroupfs, kKindSystemd, kKindCgroupfs}) {
    for (KubeQos qos : {KubeQos::guaranteed, KubeQos::burstable, KubeQos::best_effort}) {
      CAPTURE(root.dir);
      CHECK(parse_pod_dir(root, qos, last_part(pod_dir(root, qos, kUid))) == kUid);
      if (qos != KubeQos::guaranteed) CHECK(parse_qos_dir(root, last_part(qos_dir(root, qos))) == qos);
    }
  }
}

TEST_CASE("other directories are not taken for pods") {
  for (const char* name :
       {"", "kubepods.slice", "kubepods-burstable.slice", "kubepods-pod.slice", "podx", "cgroup.procs"})
    CHECK_FALSE(parse_pod_dir(kSystemd, KubeQos::guaranteed, name));
  CHECK_FALSE(parse_pod_dir(kSystemd, KubeQos::burstable, "kubepods-podx.slice"));
  for (const char* name : {"", "pod", "burstable", "system.slice"})
    CHECK_FALSE(parse_pod_dir(kCgroupfs, KubeQos::guaranteed, name));
  CHECK_FALSE(parse_qos_dir(kSystemd, "burstable"));
  CHECK_FALSE(parse_qos_dir(kCgroupfs, "guaranteed"));
}

TEST_CASE("a container's directory names its runtime with systemd, and its id alone with cgroupfs") {
  CHECK(*container_dir(Driver::systemd, "p", "containerd://abc") == "p/cri-containerd-abc.scope");
  CHECK(*container_dir(Driver::systemd, "p", "cri-o://abc") == "p/crio-abc.scope");
  CHECK(*container_dir(Driver::systemd, "p", "docker://abc") == "p/docker-abc.scope");
  CHECK(*container_dir(Driver::systemd, "p", "pouch://abc") == "p/pouch-abc.scope");
  CHECK(*container_dir(Driver::cgroupfs, "p", "containerd://abc") == "p/abc");
  CHECK(*container_dir(Driver::cgroupfs, "p", "cri-o://abc") == "p/crio-abc");
}

TEST_CASE("a container id of no known runtime is refused") {
  for (const char* id : {"", "abc", "rkt://abc", "docker://", "docker://..", "docker://a/b", "docker:/abc"}) {
    CAPTURE(id);
    CHECK_FALSE(container_dir(Driver::systemd, "p", id));
  }
}

TEST_CASE("a container's directory leads back to its id") {
  for (const char* scheme : {"docker", "containerd", "cri-o", "pouch", "libpod"}) {
    std::string dir = *container_dir(Driver::systemd, "p", scheme + ("://" + kId));
    CHECK(parse_container_dir(Driver::systemd, last_part(dir)) == ContainerName{scheme, kId, false});
  }
  CHECK(parse_container_dir(Driver::cgroupfs, kId) == ContainerName{"", kId, false});
  CHECK(parse_container_dir(Driver::cgroupfs, "crio-" + kId) == ContainerName{"cri-o", kId, false});
  CHECK(parse_container_dir(Driver::cgroupfs, kId)->full_id() == kId);
  CHECK(parse_scope("libpod-" + kId + ".scope")->full_id() == "libpod://" + kId);
}

TEST_CASE("a runtime's directories beside containers are recognised") {
  CHECK(parse_scope("crio-conmon-abc.scope")->helper);
  CHECK(parse_scope("libpod-conmon-abc.scope")->helper);
  CHECK(parse_container_dir(Driver::systemd, "crio-abc")->helper);
  for (const char* name : {"init.scope", "docker-.scope", "docker-abc", "nginx.service", ""})
    CHECK_FALSE(parse_scope(name));
  CHECK_FALSE(parse_container_dir(Driver::cgroupfs, "init.scope"));
}

TEST_CASE("kube roots are found at the top and below a kubelet's own cgroup") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu\n"},
                 {"cgroup/kubelet.slice/kubelet-kubepods.slice/", ""},
                 {"cgroup/kubelet/kubepods/", ""},
                 {"cgroup/kubepods.slice/", ""}});
  CHECK(find_kube_roots(*Layout::detect(node.roots())) == std::vector{kSystemd, kKindCgroupfs, kKindSystemd});
}

TEST_CASE("a kube root with pods is preferred to an empty one") {
  FakeNode node(
      {{"cgroup/cpu/kubepods.slice/kubepods-burstable.slice/", ""}, {"cgroup/cpu/kubepods/burstable/podx/", ""}});
  CHECK(find_kube_roots(*Layout::detect(node.roots())) == std::vector{kCgroupfs, kSystemd});
}

TEST_CASE("a cgroup is a relative path that cannot climb out") {
  for (const char* good : {"", "a", "a/b.slice", "a/..b"}) CHECK(is_cgroup(good));
  for (const char* bad : {"/", "/a", "a/", "a//b", "..", "a/../b", ".", "a/."}) CHECK_FALSE(is_cgroup(bad));
  CHECK_FALSE(is_cgroup(std::string_view("a\0b", 3)));
}
