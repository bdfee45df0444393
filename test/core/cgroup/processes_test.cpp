// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/processes.hpp"

#include <doctest/doctest.h>

#include "core/workshop/node_tree.hpp"

using namespace koord;
using namespace koord::cgroup;

namespace {

using Tree = std::initializer_list<std::pair<std::string_view, std::string_view>>;
using Pids = std::vector<std::int32_t>;

struct Node {
  explicit Node(Tree tree) : files(tree), layout(*Layout::detect(files.roots())) {}
  workshop::NodeTree files;
  Layout layout;
};

}  // namespace

TEST_CASE("the processes of a v2 cgroup are those of all cgroups below it, sorted, each once") {
  const Node node({{"cgroup/cgroup.controllers", "cpu memory pids\n"},
                   {"cgroup/cgroup.procs", "1\n2\n"},
                   {"cgroup/pod1/cgroup.procs", ""},
                   {"cgroup/pod1/app/cgroup.procs", "30\n7\n7\n"},
                   {"cgroup/pod1/app/nested/cgroup.procs", "12\n"},
                   {"cgroup/pod2/cgroup.procs", "99\n"}});
  CHECK(*processes_below(node.layout, "pod1") == Pids{7, 12, 30});
  CHECK(*processes_below(node.layout, "pod1/app/nested") == Pids{12});
}

TEST_CASE("on v1 the tree of one controller is read") {
  const Node node({{"cgroup/cpu,cpuacct/pod1/cgroup.procs", "5\n"},
                   {"cgroup/cpu,cpuacct/pod1/app/cgroup.procs", "6\n"},
                   {"cgroup/memory/pod1/cgroup.procs", "5\n6\n"}});
  CHECK(*processes_below(node.layout, "pod1") == Pids{5, 6});
}

TEST_CASE("an empty name is an error and never the root cgroup") {
  const Node node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/cgroup.procs", "1\n"}});
  CHECK(processes_below(node.layout, "").error().is(std::errc::invalid_argument));
}

TEST_CASE("a cgroup that does not exist is gone, one without processes has none") {
  const Node node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/pod1/cgroup.procs", ""}});
  CHECK(processes_below(node.layout, "pod2").error().is(std::errc::no_such_device));
  CHECK(processes_below(node.layout, "pod1")->empty());
}

TEST_CASE("processes of another PID namespace are reported as invisible, not absent") {
  const Node node({{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/pod1/cgroup.procs", "0\n0\n"}});
  const Error error = processes_below(node.layout, "pod1").error();
  CHECK(error.is(std::errc::not_supported));
  CHECK(error.message().find("another PID namespace") != std::string::npos);
}
