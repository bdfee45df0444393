// SPDX-License-Identifier: Apache-2.0
// Cgroups that lack the file of a limit, cannot be locked, or have lost a controller. Needs root.
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "core/child/confinement.hpp"
#include "test/core/child/confinement_node.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::child;
using cgroup::Controller;

namespace {

// Counts how often a directory is opened, which happens once for each attempt to make and lock a cgroup.
class Opens {
 public:
  explicit Opens(const std::string& directory) {
    REQUIRE(::inotify_add_watch(fd_.get(), directory.c_str(), IN_OPEN | IN_CLOSE | IN_ONLYDIR) >= 0);
  }
  int count() const {
    alignas(inotify_event) char buffer[64 << 10];
    int opens = 0;
    for (ssize_t size = 0; (size = ::read(fd_.get(), buffer, sizeof buffer)) > 0;)
      for (ssize_t at = 0; at < size;) {
        inotify_event event{};
        std::memcpy(&event, buffer + at, sizeof event);
        opens += event.len == 0 && (event.mask & IN_OPEN) != 0;
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    return opens;
  }

 private:
  UniqueFd fd_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

// A tree of plain files. It looks like cgroup v1 on a kernel without any cgroup file.
struct PlainTree {
  std::string folder = std::filesystem::temp_directory_path() / ("koord-test-plain-" + std::to_string(::getpid()));
  const std::string id = "koord-test", plugins = "/" + std::string(kPluginsCgroup) + "/";

  PlainTree() { std::filesystem::create_directories(folder + "/cpu" + plugins + id); }
  ~PlainTree() { std::filesystem::remove_all(folder); }
  PlainTree(const PlainTree&) = delete;
  PlainTree& operator=(const PlainTree&) = delete;

  cgroup::Layout layout() const { return *cgroup::Layout::detect({.cgroup = folder}); }
};

}  // namespace

TEST_CASE_FIXTURE(PlainTree, "a cgroup without the file of a limit is made once, and the file is named") {
  const cgroup::Layout tree = layout();
  const Opens opens(folder + "/cpu" + plugins + id);
  const Confinement confinement(tree, id, {.cpu_millis = 500});
  CHECK(opens.count() == 1);
  CHECK_MESSAGE(confinement.problems().find("cpu.cfs_quota_us") != std::string::npos, confinement.problems());
  CHECK(confinement.problems().find("locked") == std::string::npos);
}

TEST_CASE_FIXTURE(PlainTree, "a cgroup that cannot be locked is a problem in words") {
  std::filesystem::create_directory(folder + "/pids");  // where the child's own cgroup is made
  std::filesystem::create_directories(folder + "/memory" + plugins);
  std::ofstream(folder + "/memory" + plugins + id) << "no directory\n";
  const cgroup::Layout tree = layout();
  const Confinement confinement(tree, id, {});
  CHECK(confinement.problems() == "the cgroup cannot be locked");
}

TEST_CASE_FIXTURE(Node, "a cgroup below one that has lost a controller is made once, and the controller is named") {
  if (layout.hierarchy() != cgroup::Hierarchy::v2) {
    MESSAGE("SKIPPED: cgroups here are not version 2");
    return;
  }
  const test::RealCgroup outer("outer");
  const std::string root = layout.unified_directory(""), top = outer.path(Controller::core), inner = top + "/inner";
  REQUIRE(write_value(root + "/cgroup.subtree_control", "+pids"));
  REQUIRE(write_value(top + "/cgroup.subtree_control", "+pids"));
  std::filesystem::create_directories(inner + "/" + plugin());
  layout = *cgroup::Layout::detect({.cgroup = inner});
  REQUIRE(layout.version(Controller::pids) == cgroup::Version::v2);
  REQUIRE(write_value(top + "/cgroup.subtree_control", "-pids"));
  {
    const Opens opens(inner + "/" + plugin());
    const Confinement confinement(layout, id, {.processes = 8});
    CHECK(opens.count() == 1);
    CHECK_MESSAGE(confinement.problems().starts_with("pids: "), confinement.problems());
    CHECK(confinement.problems().find("locked") == std::string::npos);
  }
  ::rmdir((inner + "/" + std::string(kPluginsCgroup)).c_str());
  CHECK(::rmdir(inner.c_str()) == 0);
}
