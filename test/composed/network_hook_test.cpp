// SPDX-License-Identifier: Apache-2.0
// hook-network in a whole agent: the traffic classes of an interface and the class ids of pods, with every interruption
// of the agent. The agent runs in a network namespace of the test and uses its loopback interface.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kShares =
    "systemStrategy: {totalNetworkBandwidth: 1G}, resourceQOSStrategy: {policies: {netQOSPolicy: tc},"
    " lsClass: {networkQOS: {enable: true, egressRequest: 40}},"
    " beClass: {networkQOS: {enable: true, egressRequest: 80M, egressLimit: 50}}}";
constexpr const char* kLs = "1802436611";  // 6b6f:3
constexpr const char* kBe = "1802436612";  // 6b6f:4

// Namespaces that this thread enters, with the processes it starts, until the end of the test.
class OwnNamespaces {
 public:
  OwnNamespaces()
      : network_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)),
        mounts_(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)) {
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) throw std::runtime_error("no namespaces");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) throw std::runtime_error("no own mounts");
    run_to_end({"ip", "link", "set", "lo", "up"});
  }
  ~OwnNamespaces() {
    static_cast<void>(!::setns(mounts_.get(), CLONE_NEWNS));
    static_cast<void>(!::setns(network_.get(), CLONE_NEWNET));
  }
  OwnNamespaces(const OwnNamespaces&) = delete;
  OwnNamespaces& operator=(const OwnNamespaces&) = delete;

 private:
  koord::UniqueFd network_, mounts_;
};

struct SharedInterface {
  SharedInterface() {
    std::array<char, 100> name{};
    REQUIRE(::readlink("/proc/self/ns/net", name.data(), name.size() - 1) > 0);
    fs::create_directories(node.folder / "proc/1/ns");
    fs::create_symlink(name.data(), node.folder / "proc/1/ns/net");
    node.arguments = {"--set", "plugins.settings.hook-network.config.interface=lo"};
  }

  ~SharedInterface() {
    if (tree_.empty()) return;
    std::vector<fs::path> cgroups;
    for (const fs::directory_entry& one : fs::recursive_directory_iterator(tree_))
      if (one.is_directory()) cgroups.push_back(one.path());
    // The kernel may need a moment to release the cgroups that the agent had open.
    for (auto cgroup = cgroups.rbegin(); cgroup != cgroups.rend(); ++cgroup)
      CHECK(eventually([&] { return ::rmdir(cgroup->c_str()) == 0; }));
    CHECK(eventually([&] { return ::umount(tree_.c_str()) == 0; }));
    CHECK(eventually([&] { return ::rmdir(tree_.c_str()) == 0; }));
  }
  SharedInterface(const SharedInterface&) = delete;
  SharedInterface& operator=(const SharedInterface&) = delete;

  // Returns false if this kernel cannot classify packets by cgroup.
  static bool can_sort() {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"tc", "qdisc", "add", "dev", "lo", "root", "handle", "9:", "htb"},
          std::vector<std::string>{"tc", "filter", "add", "dev", "lo", "parent", "9:", "handle", "1:", "cgroup"}})
      if (run_to_end(arguments).exit_status != 0) return run_to_end({"tc", "qdisc", "del", "dev", "lo", "root"}), false;
    return run_to_end({"tc", "qdisc", "del", "dev", "lo", "root"}).exit_status == 0;
  }

  // On a node with cgroup v2, mounts the v1 controller net_cls in addition.
  void mount_net_cls() {
    const std::string tree = node.pods.root(node.folder.path()) + "/net_cls";
    fs::create_directory(tree);
    REQUIRE(::mount("koord-test", tree.c_str(), "cgroup", 0, "net_cls") == 0);
    tree_ = tree;
  }
  std::string class_file(const RealCgroup& cgroup) const {
    const std::string path = tree_ + cgroup.dir().substr(node.pods.top.dir().size());
    fs::create_directories(path);
    return path + "/net_cls.classid";
  }
  static std::string classes() { return run_to_end({"tc", "class", "show", "dev", "lo"}).output; }
  static bool has_classes() {
    const std::string all = classes();
    for (const char* one :
         {"class htb 6b6f:1 root rate 1Gbit ceil 1Gbit", "class htb 6b6f:2 parent 6b6f:1 prio 1 rate 520Mbit",
          "class htb 6b6f:3 parent 6b6f:1 prio 2 rate 400Mbit ceil 1Gbit",
          "class htb 6b6f:4 parent 6b6f:1 prio 3 rate 80Mbit ceil 500Mbit"})
      if (all.find(one) == std::string::npos) return false;
    return true;
  }

  OwnNamespaces own;
  Sessions node{{.plugins = {"qos-cpu-burst", "hook-network"},
                 .gates = "TCNetworkQoS=true",
                 .node_slo = spec(std::string(kBurst) + ", " + kShares)}};

 private:
  std::string tree_;  // the tree of net_cls
};

}  // namespace

TEST_CASE_FIXTURE(SharedInterface,
                  "pods have the id of their class and the interface has its classes, until the agent ends") {
  if (!can_sort()) {
    MESSAGE("not proven here: this kernel has no filter by cgroup");
    return;
  }
  mount_net_cls();
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) node.expect(class_file(*cgroup), {kLs});
  for (const RealCgroup* cgroup : {&node.pods.batch_pod, &node.pods.batch}) node.expect(class_file(*cgroup), {kBe});
  REQUIRE(node.expected() == 4);
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  CHECK_MESSAGE(eventually([] { return has_classes(); }, std::chrono::minutes(1)), classes() << node.agent->log());
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(eventually([] { return has_classes(); }, std::chrono::minutes(1)), classes());
  }
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
  CHECK_MESSAGE(classes().empty(), classes());
}

TEST_CASE_FIXTURE(SharedInterface,
                  "in shadow mode the classes are recorded, and neither interface nor pod is changed") {
  if (!can_sort()) return;
  mount_net_cls();
  node.expect(class_file(node.pods.service), {kLs});
  node.arguments.insert(node.arguments.end(), {"--set", "qos.mode=shadow"});
  REQUIRE(node.start());
  const auto decisions = [&] { return node.agent->ctl({"decisions", "--plugin", "hook-network"}).output; };
  CHECK_MESSAGE(
      eventually([&] { return decisions().find("tc.classes") != std::string::npos; }, std::chrono::minutes(1)),
      decisions() << node.agent->log());
  CHECK_MESSAGE(decisions().find("shadow") != std::string::npos, decisions());
  CHECK_MESSAGE(classes().empty(), classes());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

TEST_CASE_FIXTURE(SharedInterface, "without net_cls the missing capability has a reason, and no interface is changed") {
  REQUIRE(node.start());
  const auto capabilities = [&] { return node.agent->ctl({"capabilities"}).output; };
  CHECK_MESSAGE(eventually([&] { return capabilities().find("has the controller net_cls") != std::string::npos; },
                           std::chrono::minutes(1)),
                capabilities() << node.agent->log());
  CHECK(capabilities().find("traffic_classes") != std::string::npos);
  CHECK_MESSAGE(classes().empty(), classes());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}
