// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node/kube_roots.hpp"

#include <doctest/doctest.h>

using namespace koord::kube;
using koord::cgroup::Driver;
using koord::cgroup::KubeQos;
using koord::cgroup::KubeRoot;

namespace {

using Roots = std::vector<KubeRoot>;

Roots of(KubeQos qos, std::string_view dir) { return kube_roots({{qos, dir}}); }

const KubeRoot kSystemd = {Driver::systemd, "kubepods.slice"};
const KubeRoot kCgroupfs = {Driver::cgroupfs, "kubepods"};

}  // namespace

TEST_CASE("any pod shows the kubelet's directory, whatever its class and the driver") {
  CHECK(of(KubeQos::best_effort, "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu.slice") ==
        Roots{kSystemd});
  CHECK(of(KubeQos::guaranteed, "kubepods.slice/kubepods-podu.slice") == Roots{kSystemd});
  CHECK(of(KubeQos::burstable, "kubepods/burstable/podu") == Roots{kCgroupfs});
  CHECK(of(KubeQos::guaranteed, "kubelet/kubepods/podu") == Roots{{Driver::cgroupfs, "kubelet/kubepods"}});
}

TEST_CASE("pods in one place give one directory") {
  CHECK(kube_roots({{KubeQos::burstable, "kubepods/burstable/pod1"}, {KubeQos::guaranteed, "kubepods/pod2"}}) ==
        Roots{kCgroupfs});
}

TEST_CASE("if no pod shows the directory, all default directories of a kubelet are returned") {
  const Roots usual = {kSystemd,
                       kCgroupfs,
                       {Driver::systemd, "kubelet.slice/kubelet-kubepods.slice"},
                       {Driver::cgroupfs, "kubelet/kubepods"}};
  CHECK(kube_roots({}) == usual);
  CHECK(kube_roots(
            {{KubeQos::unknown, "kubepods/pod1"}, {KubeQos::burstable, "burstable/pod1"}, {KubeQos::guaranteed, ""}}) ==
        usual);
}
