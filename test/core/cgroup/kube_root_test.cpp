// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/kube_root.hpp"

#include <doctest/doctest.h>

#include "core/workshop/node_tree.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::workshop::NodeTree;

namespace {

const KubeRoot kSystemd = default_kube_root(Driver::systemd);
const KubeRoot kCgroupfs = default_kube_root(Driver::cgroupfs);

Layout v2_with(NodeTree& node, std::initializer_list<const char*> directories) {
  node.write("cgroup/cgroup.controllers", "cpu memory\n");
  for (const char* directory : directories) node.make_directory(std::string("cgroup/") + directory);
  return *Layout::detect(node.roots());
}

}  // namespace

TEST_CASE("a kubelet's cgroupRoot becomes the directory that its driver makes of it") {
  const auto dir = [](Driver driver, const char* root) { return kube_root_below(driver, root).value().dir; };
  for (const char* none : {"", "/"}) {
    CHECK(dir(Driver::systemd, none) == "kubepods.slice");
    CHECK(dir(Driver::cgroupfs, none) == "kubepods");
  }
  CHECK(dir(Driver::systemd, "/kubelet") == "kubelet.slice/kubelet-kubepods.slice");
  CHECK(dir(Driver::systemd, "/a/b-c") == "a.slice/a-b_c.slice/a-b_c-kubepods.slice");
  CHECK(dir(Driver::cgroupfs, "/kubelet/") == "kubelet/kubepods");
  CHECK(dir(Driver::cgroupfs, "/a/b-c") == "a/b-c/kubepods");
}

TEST_CASE("a cgroupRoot that leads out of the tree is an error that names it") {
  for (const char* path : {"/..", "/a/../b", "a//b"}) {
    const auto root = kube_root_below(Driver::cgroupfs, path);
    REQUIRE_FALSE(root);
    CHECK(root.error().message().find(path) != std::string::npos);
  }
}

TEST_CASE("if the kubelet reports no cgroupRoot, the directory with pods is the kubelet's") {
  NodeTree node;
  CHECK(choose_kube_root(v2_with(node, {})) == kSystemd);
  CHECK(choose_kube_root(v2_with(node, {"kubepods/"})) == kCgroupfs);
  CHECK(choose_kube_root(v2_with(node, {"kubepods.slice/"})) == kSystemd);
  CHECK(choose_kube_root(v2_with(node, {"kubepods/besteffort/podu1/"})) == kCgroupfs);
}

TEST_CASE("the kubelet's configuration is used, even before its first pod exists") {
  NodeTree node;
  CHECK(choose_kube_root(v2_with(node, {"kubepods.slice/"}), kCgroupfs) == kCgroupfs);
  const KubeRoot deep = *kube_root_below(Driver::cgroupfs, "/a/b");
  CHECK(choose_kube_root(v2_with(node, {"a/b/kubepods/podu1/", "kubepods/podu2/"}), deep) == deep);
}

TEST_CASE("the kubelet's configuration is not used if the pods are elsewhere") {
  NodeTree node;
  const Layout layout = v2_with(node, {"kubepods/", "kubepods.slice/kubepods-podu1.slice/"});
  CHECK(choose_kube_root(layout, kCgroupfs) == kSystemd);
}
