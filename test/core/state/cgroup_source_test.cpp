// SPDX-License-Identifier: Apache-2.0
#include "core/state/cgroup_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using koord::test::FakeNode;

namespace {

const std::string kIdA(64, 'a');
const std::string kIdB(64, 'b');

// Returns the snapshot of a cgroup v2 node with these directories after one poll.
SnapshotPtr see(FakeNode& node, CgroupSource::Options options = {}) {
  Hub hub;
  CgroupSource source(*cgroup::Layout::detect(node.roots()), std::move(options), hub);
  REQUIRE(source.refresh());
  return hub.current();
}

SnapshotPtr see_v2(const std::vector<std::string>& directories, CgroupSource::Options options = {}) {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"}});
  for (const std::string& directory : directories) node.make_directory("cgroup/" + directory);
  return see(node, std::move(options));
}

std::vector<std::string> ids(const std::vector<Container>& containers) {
  std::vector<std::string> found;
  for (const Container& container : containers) found.push_back(container.id);
  return found;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a pod is known by the uid and QoS that its systemd slice names") {
  SnapshotPtr seen = see_v2(
      {"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice/cri-containerd-" + kIdA + ".scope"});
  REQUIRE(seen->pods.size() == 1);
  const Pod& pod = seen->pods[0];
  CHECK(pod.uid == "u-1");
  CHECK(pod.name == "u-1");
  CHECK(pod.kube_qos == KubeQos::burstable);
  CHECK(pod.koord_qos == KoordQos::ls);
  CHECK(pod.cgroup_dir == "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice");
  CHECK(ids(pod.containers) == Ids{"containerd://" + kIdA});
  CHECK(pod.containers[0].cgroup_dir == pod.cgroup_dir + "/cri-containerd-" + kIdA + ".scope");
  CHECK(pod.containers[0].name == "aaaaaaaaaaaa");
}

TEST_CASE("pods of the cgroupfs driver get the given runtime's scheme") {
  SnapshotPtr seen = see_v2({"kubepods/besteffort/podx/" + kIdA, "kubepods/pody/" + kIdB}, {.runtime = "containerd"});
  REQUIRE(seen->pods.size() == 2);
  CHECK(seen->pods[0].kube_qos == KubeQos::best_effort);
  CHECK(seen->pods[1].kube_qos == KubeQos::guaranteed);
  CHECK(ids(seen->pods[1].containers) == Ids{"containerd://" + kIdB});
}

TEST_CASE("pods below a kubelet's own cgroup are found") {
  CHECK(see_v2({"kubelet/kubepods/burstable/podx"})->pods.size() == 1);
  CHECK(see_v2({"kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podx.slice"})->pods.size() == 1);
}

TEST_CASE("a cri-o helper beside a container is a sandbox") {
  SnapshotPtr seen = see_v2({"kubepods.slice/kubepods-podx.slice/crio-" + kIdA + ".scope",
                             "kubepods.slice/kubepods-podx.slice/crio-" + kIdB});
  REQUIRE(seen->pods[0].containers.size() == 2);
  CHECK(seen->pods[0].containers[0].kind == ContainerKind::regular);
  CHECK(seen->pods[0].containers[1].kind == ContainerKind::sandbox);
}

TEST_CASE("docker and podman containers are found by either driver's names") {
  CHECK(ids(see_v2({"docker/" + kIdA, "docker/buildkit"})->standalone) == Ids{"docker://" + kIdA});
  CHECK(ids(see_v2({"system.slice/docker-" + kIdA + ".scope"})->standalone) == Ids{"docker://" + kIdA});
  CHECK(ids(see_v2({"machine.slice/libpod-" + kIdA + ".scope", "machine.slice/libpod-conmon-" + kIdA + ".scope"})
                ->standalone) == Ids{"libpod://" + kIdA});
  CHECK(ids(see_v2({"libpod_parent/libpod-" + kIdA})->standalone) == Ids{"libpod://" + kIdA});
}

TEST_CASE("a user's podman containers are found, the user's services are not") {
  std::string user = "user.slice/user-1000.slice/user@1000.service/";
  SnapshotPtr seen = see_v2({user + "user.slice/libpod-" + kIdA + ".scope", user + "app.slice/editor.service"});
  CHECK(ids(seen->standalone) == Ids{"libpod://" + kIdA});
}

TEST_CASE("systemd services are found, in nested slices, too") {
  SnapshotPtr seen =
      see_v2({"system.slice/nginx.service/inner", "system.slice/system-getty.slice/getty@tty1.service", "init.scope"});
  CHECK(ids(seen->standalone) == Ids{"systemd://getty@tty1.service", "systemd://nginx.service"});
  CHECK(seen->standalone[1].kind == ContainerKind::service);
  CHECK(seen->standalone[1].cgroup_dir == "system.slice/nginx.service");
  CHECK(seen->standalone[1].incarnation != 0);
}

TEST_CASE("where nothing is known, the top-level cgroups are shown") {
  SnapshotPtr seen = see_v2({"batch/inner", "web"});
  CHECK(ids(seen->standalone) == Ids{"cgroup://batch", "cgroup://web"});
  CHECK(seen->standalone[0].kind == ContainerKind::cgroup);
  CHECK(seen->pods.empty());
}

TEST_CASE("configured paths are shown, with patterns in each component") {
  SnapshotPtr seen = see_v2({"batch/job-1", "batch/job-2", "batch/other", "web"}, {.paths = {"batch/job-*", "gone/x"}});
  CHECK(ids(seen->standalone) == Ids{"cgroup://batch/job-1", "cgroup://batch/job-2"});
}

TEST_CASE("a configured path that is a service stays one") {
  SnapshotPtr seen = see_v2({"system.slice/a.service"}, {.paths = {"system.slice/a.service"}});
  CHECK(ids(seen->standalone) == Ids{"systemd://a.service"});
}

TEST_CASE("a v1 cgroup counts in whichever tree it is, once") {
  FakeNode node({{"cgroup/cpu/a/", ""}, {"cgroup/cpuacct/a/", ""}, {"cgroup/memory/b/", ""}});
  CHECK(ids(see(node)->standalone) == Ids{"cgroup://a", "cgroup://b"});
}

TEST_CASE("pods are left alone when another source knows them") {
  SnapshotPtr seen = see_v2({"kubepods/podx", "system.slice/a.service"}, {.pods = false});
  CHECK(seen->pods.empty());
  CHECK(ids(seen->standalone) == Ids{"systemd://a.service"});
}

TEST_CASE("a refresh follows the tree, and reports nothing without a change") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/kubepods/podx/", ""}});
  Hub hub;
  CgroupSource source(*cgroup::Layout::detect(node.roots()), {}, hub);
  REQUIRE(source.refresh());
  REQUIRE(source.refresh());
  CHECK(hub.current()->versions.pods == 1);
  node.remove("cgroup/kubepods/podx");
  node.make_directory("cgroup/kubepods/pody");
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].uid == "y");
}

TEST_CASE("a tree that cannot be listed is an error and keeps what was known") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/kubepods/podx/", ""}});
  Hub hub;
  CgroupSource source(*cgroup::Layout::detect(node.roots()), {}, hub);
  REQUIRE(source.refresh());
  node.remove("cgroup");
  CHECK_FALSE(source.refresh());
  CHECK(hub.current()->pods.size() == 1);
}

TEST_CASE("the runtime is guessed from its directory under /run") {
  FakeNode node;
  CHECK(guess_runtime(node.roots()).empty());
  node.make_directory("run/crio");
  CHECK(guess_runtime(node.roots()) == "cri-o");
  node.make_directory("run/containerd");
  CHECK(guess_runtime(node.roots()) == "containerd");
}
