// SPDX-License-Identifier: Apache-2.0
#include "core/state/named_cgroups.hpp"

#include <doctest/doctest.h>

#include "core/state/file_source.hpp"
#include "core/state/objects.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;

namespace {

Result<std::vector<Pod>> pods_of(const std::string& annotations, const std::string& more = "") {
  std::vector<Pod> pods =
      *parse_pod_list("items: [{metadata: {uid: u1, namespace: batch, name: nightly, annotations: {" + annotations +
                          "}}, spec: {containers: [{name: main}, {name: log}]}}" + more + "]",
                      {});
  TRY(take_named_cgroups(pods));
  return pods;
}

}  // namespace

TEST_CASE("a pod and its containers are in the cgroups that they name, and run unless their status says otherwise") {
  const auto pods =
      *pods_of("koordetector.sh/cgroup-dir: batch.slice, koordetector.sh/cgroup-dir.main: batch.slice/nightly.service");
  CHECK(pods[0].cgroup_dir == "batch.slice");
  CHECK(pods[0].phase == Phase::running);
  CHECK(pods[0].containers[0].cgroup_dir == "batch.slice/nightly.service");
  CHECK(pods[0].containers[0].state == ContainerState::running);
  CHECK(pods[0].containers[1].cgroup_dir.empty());
  CHECK(pods[0].containers[1].state == ContainerState::unknown);
}

TEST_CASE("a pod that names none has the cgroup that a kubelet would give it") {
  CHECK(pods_of("koordetector.sh/cgroup-directory: x")->front().cgroup_dir ==
        "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice");
}

TEST_CASE("a cgroup that cannot be, is twice, or is not below its pod's is named") {
  const std::string pod = "koordetector.sh/cgroup-dir: a.slice";
  for (const auto& row :
       {std::pair<std::string, const char*>{"koordetector.sh/cgroup-dir: /a.slice", "is '/a.slice', expected a cgroup"},
        {"koordetector.sh/cgroup-dir: \"\"", "is '', expected a cgroup"},
        {"koordetector.sh/cgroup-dir: a/../b", "is 'a/../b', expected a cgroup"},
        {"koordetector.sh/cgroup-dir.main: a.slice/x", "is missing: only containers have one"},
        {pod + ", koordetector.sh/cgroup-dir.other: a.slice/x", "names a container that the pod does not have"},
        {pod + ", koordetector.sh/cgroup-dir.main: b.slice", "expected a cgroup below the pod's, 'a.slice'"},
        {pod + ", koordetector.sh/cgroup-dir.main: a.slice/x, koordetector.sh/cgroup-dir.log: a.slice/x",
         "names 'a.slice/x' a second time"}}) {
    CAPTURE(row.first);
    const auto& [annotations, wanted] = row;
    const auto pods = pods_of(annotations);
    REQUIRE_FALSE(pods);
    CHECK(pods.error().message().starts_with("pod batch/nightly: "));
    CHECK(pods.error().message().find(wanted) != std::string::npos);
  }
}

TEST_CASE("cgroups are taken as named from a file, and never from a kubelet") {
  const std::string list =
      R"({"items":[{"metadata":{"uid":"u1","name":"n","annotations":{"koordetector.sh/cgroup-dir":"batch.slice"}}}]})";
  test::FakeNode node({{"run/pods.yaml", list}});
  Hub hub;
  FileSource::Options options;
  options.pods = node.path("run/pods.yaml");
  FileSource source(options, hub);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].cgroup_dir == "batch.slice");
  CHECK(parse_served_pods(list, {})->pods.at(0).cgroup_dir != "batch.slice");
}
