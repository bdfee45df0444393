// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/layout.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::FakeNode;

TEST_CASE("a root with cgroup.controllers is v2, with the controllers it lists") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.hierarchy() == Hierarchy::v2);
  CHECK(layout.version(Controller::memory) == Version::v2);
  CHECK(layout.version(Controller::blkio) == Version::v2);
  CHECK(layout.directory(Controller::memory, "a/b") == node.path("cgroup/a/b"));
  CHECK(layout.directory(Controller::cpu, "") == node.path("cgroup"));
  CHECK(layout.workload_trees() == std::vector{node.path("cgroup")});
}

TEST_CASE("a v2 controller that the root does not list is absent, but CPU accounting never is") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory\n"}});
  Layout layout = *Layout::detect(node.roots());
  CHECK_FALSE(layout.version(Controller::pids));
  CHECK(layout.directory(Controller::pids, "a").empty());
  CHECK(layout.version(Controller::cpuacct) == Version::v2);
}

TEST_CASE("directories named after controllers are v1") {
  FakeNode node({{"cgroup/cpu/", ""}, {"cgroup/cpuacct/", ""}, {"cgroup/memory/", ""}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.hierarchy() == Hierarchy::v1);
  CHECK(layout.version(Controller::cpu) == Version::v1);
  CHECK_FALSE(layout.version(Controller::pids));
  CHECK_FALSE(layout.version(Controller::core));
  CHECK(layout.directory(Controller::memory, "x") == node.path("cgroup/memory/x"));
  CHECK(layout.unified_directory("x").empty());
  CHECK(layout.workload_trees().size() == 3);
}

TEST_CASE("co-mounted controllers are one tree, reached by their joint name") {
  FakeNode node({{"cgroup/cpu,cpuacct/tasks", ""}, {"cgroup/memory/", ""}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.directory(Controller::cpuacct, "x") == node.path("cgroup/cpu,cpuacct/x"));
  CHECK(layout.workload_trees() == std::vector{node.path("cgroup/cpu,cpuacct"), node.path("cgroup/memory")});
}

TEST_CASE("co-mounted controllers are one tree, reached by links") {
  FakeNode node({{"cgroup/cpu,cpuacct/tasks", ""}});
  node.link("cgroup/cpu", "cpu,cpuacct");
  node.link("cgroup/cpuacct", "cpu,cpuacct");
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.directory(Controller::cpu, "x") == node.path("cgroup/cpu/x"));
  CHECK(layout.workload_trees() == std::vector{node.path("cgroup/cpu")});
}

TEST_CASE("v1 beside a unified tree is hybrid, and v1 keeps its controllers") {
  FakeNode node({{"cgroup/cpu/", ""}, {"cgroup/cpuacct/", ""}, {"cgroup/unified/cgroup.controllers", "\n"}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.hierarchy() == Hierarchy::hybrid);
  CHECK(layout.version(Controller::cpuacct) == Version::v1);
  CHECK(layout.version(Controller::core) == Version::v2);
  CHECK(layout.unified_directory("x") == node.path("cgroup/unified/x"));
}

TEST_CASE("controllers that only the unified tree has are taken from there") {
  FakeNode node({{"cgroup/cpu/", ""}, {"cgroup/unified/cgroup.controllers", "memory cpu\n"}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.version(Controller::cpu) == Version::v1);
  CHECK(layout.directory(Controller::memory, "x") == node.path("cgroup/unified/x"));
}

TEST_CASE("a v1 mount below a v2 root is used, a cgroup with such a name is not") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory pids\n"},
                 {"cgroup/cpuset/tasks", ""},
                 {"cgroup/memory/cgroup.procs", ""}});
  Layout layout = *Layout::detect(node.roots());
  CHECK(layout.hierarchy() == Hierarchy::hybrid);
  CHECK(layout.version(Controller::cpuset) == Version::v1);
  CHECK(layout.version(Controller::memory) == Version::v2);
}

TEST_CASE("a root without any known layout is an error that says what was expected") {
  FakeNode node;
  std::string message = Layout::detect(node.roots()).error().message();
  CHECK(message.starts_with("no cgroup tree at '" + node.path("cgroup") + "', expected"));
  node.remove("cgroup");
  CHECK_FALSE(Layout::detect(node.roots()));
}

TEST_CASE("net_cls is a v1 controller, and beside a v2 tree it leaves the node on v2") {
  FakeNode v1({{"cgroup/cpu/", ""}, {"cgroup/net_cls,net_prio/tasks", ""}});
  CHECK(Layout::detect(v1.roots())->directory(Controller::net_cls, "x") == v1.path("cgroup/net_cls,net_prio/x"));
  FakeNode v2({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/net_cls/tasks", ""}});
  Layout layout = *Layout::detect(v2.roots());
  CHECK(layout.hierarchy() == Hierarchy::v2);
  CHECK(layout.version(Controller::net_cls) == Version::v1);
  FakeNode without({{"cgroup/cgroup.controllers", "cpu\n"}});
  CHECK_FALSE(Layout::detect(without.roots())->version(Controller::net_cls));
}
