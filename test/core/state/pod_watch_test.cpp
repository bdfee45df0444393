// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_watch.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "core/base/file.hpp"
#include "core/cgroup/kube_root.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using namespace std::chrono_literals;
using koord::test::FakeNode;

namespace {

const cgroup::KubeRoot kSystemd = cgroup::default_kube_root(cgroup::Driver::systemd);
const cgroup::KubeRoot kCgroupfs = cgroup::default_kube_root(cgroup::Driver::cgroupfs);

// A cgroup v2 node with watched pods.
struct Watched {
  explicit Watched(std::initializer_list<const char*> directories, const PodWatch::Options& options = {}) {
    node.write("cgroup/cgroup.controllers", "cpu memory\n");
    for (const char* directory : directories) make(directory);
    layout = *cgroup::Layout::detect(node.roots());
    begin(options);
  }
  void begin(const PodWatch::Options& options) {
    watch.reset();
    watch.emplace(
        loop, layout, [this] { ++changes; }, options);
  }
  void make(const std::string& directory) { node.make_directory("cgroup/" + directory); }
  void remove(const std::string& directory) { node.remove("cgroup/" + directory); }

  // Calls the function. Returns whether the watch noticed the change.
  bool notices(const std::function<void()>& act) {
    const int before = changes;
    act();
    return run_until([&] { return changes > before; });
  }

  bool run_until(const std::function<bool()>& condition) {
    auto poll = loop.every(2ms, [&] {
      if (condition()) loop.stop();
    });
    auto limit = loop.after(30s, [&] { loop.stop(); });
    loop.run();
    return condition();
  }

  // Returns the number of changes until the creation of this last pod was seen.
  int changes_until_seen(const std::string& last) {
    const int before = changes;
    make(last);
    run_until([&] { return changes > before; });
    return changes - before;
  }

  FakeNode node;
  cgroup::Layout layout;
  event::Loop loop;
  int changes = 0;
  std::optional<PodWatch> watch;
};

}  // namespace

TEST_CASE("a pod of each QoS class is noticed when it comes and when it goes, with both drivers") {
  Watched systemd({"kubepods.slice/kubepods-burstable.slice", "kubepods.slice/kubepods-besteffort.slice"});
  systemd.watch->watch(kSystemd);
  for (const char* pod :
       {"kubepods.slice/kubepods-podu1.slice", "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu2.slice",
        "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu3.slice"}) {
    CHECK(systemd.notices([&] { systemd.make(pod); }));
    CHECK(systemd.notices([&] { systemd.remove(pod); }));
  }
  Watched cgroupfs({"kubepods/burstable", "kubepods/besteffort"});
  cgroupfs.watch->watch(kCgroupfs);
  for (const char* pod : {"kubepods/podu1", "kubepods/burstable/podu2", "kubepods/besteffort/podu3"}) {
    CHECK(cgroupfs.notices([&] { cgroupfs.make(pod); }));
    CHECK(cgroupfs.notices([&] { cgroupfs.remove(pod); }));
  }
}

TEST_CASE("a container is noticed in pods that were there and in pods that came") {
  Watched node({"kubepods/podu1/a"});
  node.watch->watch(kCgroupfs);
  CHECK(node.notices([&] { node.make("kubepods/podu1/b"); }));
  CHECK(node.notices([&] { node.remove("kubepods/podu1/b"); }));
  CHECK(node.notices([&] { node.make("kubepods/podu2"); }));
  CHECK(node.notices([&] { node.make("kubepods/podu2/c"); }));
}

TEST_CASE("existing directories are no change at the beginning, nor is a directory that is not a pod") {
  Watched node({"kubepods/podu1/a", "kubepods/burstable/podu2"});
  node.watch->watch(kCgroupfs);
  node.make("kubepods/other");
  node.make("system.slice");
  CHECK(node.changes_until_seen("kubepods/podu3") == 1);
}

TEST_CASE("the kubelet's directory and those of its QoS classes may come later, wherever they are") {
  Watched node({});
  node.watch->watch(*cgroup::kube_root_below(cgroup::Driver::systemd, "/kubelet"));
  const std::string root = "kubelet.slice/kubelet-kubepods.slice";
  CHECK(node.notices(
      [&] { node.make(root + "/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-podu1.slice"); }));
  CHECK(node.notices([&] { node.make(root + "/kubelet-kubepods-podu2.slice"); }));
}

TEST_CASE("a directory that was removed and made again is watched again") {
  Watched node({"kubepods/burstable/podu1/a"});
  node.watch->watch(kCgroupfs);
  CHECK(node.notices([&] {
    for (const char* path :
         {"kubepods/burstable/podu1/a", "kubepods/burstable/podu1", "kubepods/burstable", "kubepods"})
      node.remove(path);
  }));
  CHECK(node.notices([&] { node.make("kubepods/burstable/podu1"); }));
  CHECK(node.notices([&] { node.make("kubepods/burstable/podu1/b"); }));
}

TEST_CASE("another directory of the kubelet is watched in place of the one before") {
  Watched node({"kubepods", "kubepods.slice"});
  node.watch->watch(kSystemd);
  node.watch->watch(kCgroupfs);
  node.make("kubepods.slice/kubepods-podu1.slice");
  CHECK(node.changes_until_seen("kubepods/podu1") == 1);
}

TEST_CASE("watches have a bound, beyond which pods are still noticed and containers are not") {
  // Two watches for the tree and kubepods, one for a pod.
  Watched node({"kubepods/podu1", "kubepods/podu2"}, {.max_watches = 3});
  node.watch->watch(kCgroupfs);
  CHECK(node.watch->detail() == "inotify on 3 directories, containers of 1 more pods are not watched");
  CHECK_FALSE(node.watch->degraded());
  node.make("kubepods/podu2/unseen");
  CHECK(node.changes_until_seen("kubepods/podu3") == 1);
  CHECK(node.notices([&] { node.make("kubepods/podu1/seen"); }));
}

TEST_CASE("without an inotify instance pods are noticed by listing, and inotify is taken again when there is one") {
  Watched node({"kubepods/podu1"});
  auto begun = node.loop.after(1h, [] {});  // opens the descriptors that the loop itself needs
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  node.begin({.poll_period = 2ms, .try_again_after = 200});
  ::setrlimit(RLIMIT_NOFILE, &before);

  node.watch->watch(kCgroupfs);
  CHECK(node.watch->degraded());
  CHECK(node.watch->detail() == "the directories of pods are listed now and again: inotify_init1: Too many open files");
  CHECK(node.notices([&] { node.make("kubepods/besteffort/podu2"); }));
  CHECK(node.notices([&] { node.remove("kubepods/besteffort/podu2"); }));
  CHECK(node.run_until([&] { return !node.watch->degraded(); }));
  CHECK(node.watch->detail() == "inotify on 4 directories");
}

// Runs in a user namespace of its own, where the kernel's limit can be set without effect on others.
TEST_CASE("when the kernel refuses further watches, the directory is listed instead, and the reason is shown") {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(77);
    if (!write_value("/proc/sys/user/max_inotify_watches", "2")) ::_exit(77);
    FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"},
                   {"cgroup/kubepods/podu1/", ""},
                   {"cgroup/kubepods/podu2/", ""}});
    event::Loop loop;
    PodWatch watch(loop, *cgroup::Layout::detect(node.roots()), [] {});
    watch.watch(kCgroupfs);
    const bool right = watch.detail() ==
                       "the directories of pods are listed now and again: inotify_add_watch: No space left on device";
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WEXITSTATUS(status) == 77)
    MESSAGE("no bound on watches can be set here");
  else
    CHECK(WEXITSTATUS(status) == 0);
}
