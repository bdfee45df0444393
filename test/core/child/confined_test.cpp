// SPDX-License-Identifier: Apache-2.0
// The isolation layers of a third-party plugin: all layers that this kernel has, or some of them. Needs root.
#include <doctest/doctest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "confined.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::service;
using namespace std::chrono_literals;
using config::IsolationLayer;
using test::Confined;
using test::has_landlock;
using test::kFirstUid;
using test::kProber;
using test::Scratch;

namespace {

// Removes a capability from this thread while the object exists.
class Without {
 public:
  explicit Without(unsigned capability) : bit_(CapabilityMask{1} << capability) { set(false); }
  ~Without() { set(true); }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  void set(bool held) const {
    Result<CapabilitySets> sets = read_capability_sets();
    REQUIRE(sets);
    sets->effective = held ? sets->effective | bit_ : sets->effective & ~bit_;
    REQUIRE(write_capability_sets(*sets));
  }
  const CapabilityMask bit_;
};

// Returns the error of landlock_abi() in a thread with a seccomp filter that makes its system call fail with this
// errno.
std::string landlock_error_behind_filter(std::uint32_t error) {
  std::string message = "the filter cannot be installed";
  std::thread([&] {
    constexpr std::uint32_t kCreateRuleset = 444;
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCreateRuleset, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{4, code};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      return;
    const auto abi = child::landlock_abi();
    message = abi ? "no error" : abi.error().message();
  }).join();
  return message;
}

// Checks the system calls that are denied to every child, with any layers.
void check_system_calls(Confined& confined) {
  for (const char* name : {"kill_parent",
                           "kill_all",
                           "tgkill_parent",
                           "prlimit_parent",
                           "affinity_parent",
                           "priority_parent",
                           "priority_user",
                           "pidfd_parent",
                           "pidfd_getfd",
                           "clone_user",
                           "clone_parent",
                           "unshare",
                           "ptrace",
                           "flock",
                           "keyctl",
                           "io_uring",
                           "io_setup",
                           "shared_memory",
                           "socketpair_datagram",
                           "userfaultfd",
                           "read_parent_memory",
                           "mount_setattr",
                           "personality",
                           "bpf_map",
                           "perf_init",
                           "socket_unix",
                           "socket_tcp",
                           "socket_tcp6",
                           "socket_udp",
                           "socket_netlink",
                           "socket_packet",
                           "connect_tcp"})
    CHECK_MESSAGE(confined.probe(name) == EPERM, std::string(name));
  CHECK(confined.probe("clone3") == ENOSYS);
  for (const char* name :
       {"kill_self", "tgkill_self", "prlimit_self", "affinity_self", "priority_self", "clone", "socketpair",
        "socketpair_seqpacket", "program", "thread", "read_passwd", "read_meminfo", "write_null", "copy"})
    CHECK_MESSAGE(confined.probe(name) == 0, std::string(name));
  CHECK(confined.probe("death_signal") == SIGKILL);
}

// Checks operations that are denied to a plugin with its own user or with rules for files.
void check_files(Confined& confined) {
  CHECK(confined.probe("dumpable") == 0);
  CHECK(confined.probe("chmod_program") == EPERM);
  CHECK((confined.probe("xattr_program") == EPERM || confined.probe("xattr_program") == EACCES));
  for (const char* name :
       {"core_pattern", "read_shadow", "read_root", "write_parent_mem", "read_parent_environ", "read_parent_maps"})
    CHECK_MESSAGE(confined.probe(name) == EACCES, std::string(name));
  for (const char* name : {"leave_cgroup", "leave_unified"})
    CHECK_MESSAGE((confined.probe(name) == EACCES || confined.probe(name) == ENOENT), std::string(name));
}

}  // namespace

TEST_CASE_FIXTURE(Confined,
                  "a plugin with all layers can only read, signal, limit and change its own processes and files") {
  start([](auto& settings) { settings.max_processes = 64; });
  REQUIRE(runs());
  check_system_calls(*this);
  check_files(*this);
  CHECK(probe("uid") == kFirstUid);
  CHECK(probe("gid") == kFirstUid);
  CHECK(probe("groups") == 0);
  CHECK(probe("process_limit") == 2 * 64);
  if (has_landlock()) CHECK(probe("write_tmp") == EACCES);
  CHECK(stage.status(kProber).isolation->has(IsolationLayer::uid));
  CHECK(stage.status(kProber).isolation->has(IsolationLayer::seccomp));
}

TEST_CASE_FIXTURE(Confined, "a plugin starts in its state directory, which is its own and survives it") {
  start();
  REQUIRE(runs());
  CHECK(probe("in_state") == 0);
  CHECK(probe("write_state") == 0);
  struct stat about;
  REQUIRE(::stat((state.path() + "/state/" + kProber + "/kept").c_str(), &about) == 0);
  CHECK(about.st_uid == kFirstUid);
  REQUIRE(::stat((state.path() + "/state/" + kProber).c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0700);
}

TEST_CASE("without Landlock the plugin's user keeps it from files, and the level says so") {
  Confined confined([](auto& options) { options.newest_landlock_abi = 0; });
  confined.start();
  REQUIRE(confined.runs());
  check_system_calls(confined);
  check_files(confined);
  CHECK(confined.isolation() == "uid+seccomp");
  CHECK(confined.stage.status(kProber).isolation->missing.at(IsolationLayer::landlock).find("switched off") !=
        std::string::npos);
}

TEST_CASE("a seccomp profile that forbids Landlock is named as the reason") {
  const std::string reason = "the seccomp profile of the agent's container or unit forbids landlock_create_ruleset";
  CHECK(landlock_error_behind_filter(EPERM) == reason);
  CHECK(landlock_error_behind_filter(ENOSYS).ends_with(", or " + reason));
}

TEST_CASE("without its own user Landlock keeps the plugin from files") {
  if (!has_landlock()) {
    MESSAGE("SKIPPED: this kernel has no Landlock");
    return;
  }
  Confined confined([](auto& options) { options.uids = 0; });
  confined.start();
  REQUIRE(confined.runs());
  check_system_calls(confined);
  check_files(confined);
  CHECK(confined.probe("uid") == ::getuid());
  CHECK(confined.probe("write_tmp") == EACCES);
  CHECK(confined.isolation() == "landlock+seccomp");
}

TEST_CASE("an agent without CAP_SETUID says so, and system calls are filtered all the same") {
  std::optional<Without> without(CAP_SETUID);
  Confined confined([](auto& options) { options.newest_landlock_abi = 0; });
  without.reset();
  confined.start();
  REQUIRE(confined.runs());
  check_system_calls(confined);
  CHECK(confined.isolation() == "seccomp");
  CHECK(confined.stage.status(kProber).isolation->missing.at(IsolationLayer::uid) == "the agent lacks CAP_SETUID");
}

TEST_CASE("every older Landlock is used with the features that it has") {
  if (!has_landlock()) {
    MESSAGE("SKIPPED: this kernel has no Landlock");
    return;
  }
  for (unsigned abi = 1; abi <= *child::landlock_abi(); ++abi) {
    Confined confined([abi](auto& options) { options.newest_landlock_abi = abi; });
    confined.start();
    REQUIRE_MESSAGE(confined.runs(), abi);
    CHECK_MESSAGE(confined.probe("write_tmp") == EACCES, abi);
    CHECK_MESSAGE(confined.probe("core_pattern") == EACCES, abi);
  }
}

TEST_CASE("the node's capabilities name the layers that plugins can have, and why one is missing") {
  Scratch directory;
  const auto capability = [&](const char* name, const std::function<void(child::Layers::Options&)>& change) {
    for (const Capability& one : child::Layers(Confined::options(directory.path(), change)).capabilities())
      if (one.name == name) return one;
    return Capability{};
  };
  const auto uid = capability("plugin_uid", {});
  CHECK(uid.state == CapabilityState::supported);
  CHECK(uid.detail == "from 2000100000 on, 10 users");
  const auto no_uid = capability("plugin_uid", [](auto& options) { options.uids = 0; });
  CHECK(no_uid.state == CapabilityState::absent);
  CHECK(no_uid.detail == "plugins.uids.count is 0");
  const auto no_landlock = capability("landlock", [](auto& options) { options.newest_landlock_abi = 0; });
  CHECK(no_landlock.state == CapabilityState::absent);
  CHECK(no_landlock.detail.find("switched off for a test") != std::string::npos);
  if (has_landlock()) {
    const auto first = capability("landlock", [](auto& options) { options.newest_landlock_abi = 1; });
    CHECK(first.state == CapabilityState::supported);
    CHECK(first.detail == "ABI 1: files");
  }
  struct stat about;
  const bool is_open = ::stat("/sys/kernel/tracing", &about) == 0 && (about.st_mode & S_IXOTH) != 0;
  const auto tracefs = capability("plugin_tracefs", {});
  CHECK(tracefs.name == "plugin_tracefs");
  if (is_open)
    CHECK(tracefs.state == CapabilityState::supported);
  else if (tracefs.state == CapabilityState::absent)
    CHECK(tracefs.detail.find("CAP_DAC_READ_SEARCH") != std::string::npos);
}

TEST_CASE("a layer that is demanded and missing refuses the plugin, and the reason names the layer") {
  Confined confined([](auto& options) { options.uids = 0; });
  confined.stage.settings().minimum_isolation = {IsolationLayer::seccomp, IsolationLayer::uid};
  confined.start();
  REQUIRE(confined.stage.await(kProber, PluginState::refused));
  CHECK(confined.stage.status(kProber).reason.find(
            "expected the isolation layer 'uid' (plugins.minimumIsolation), which is missing: "
            "plugins.uids.count is 0") != std::string::npos);
}

TEST_CASE("a minimum that is raised while the plugin runs ends it with the reason, and lowered again starts it") {
  Confined confined([](auto& options) { options.uids = 0; });
  confined.start();
  REQUIRE(confined.stage.await(kProber, PluginState::running));
  confined.stage.settings().minimum_isolation = {IsolationLayer::seccomp};
  confined.start();
  CHECK(confined.stage.status(kProber).state == PluginState::running);
  confined.stage.settings().minimum_isolation = {IsolationLayer::uid};
  confined.start();
  REQUIRE(confined.stage.await(kProber, PluginState::refused));
  CHECK(confined.stage.status(kProber).reason.find("expected the isolation layer 'uid'") != std::string::npos);
  CHECK(test::eventually([&] { return confined.stage.status(kProber).instances.at(0).state == PluginState::stopped; }));
  confined.stage.settings().minimum_isolation.clear();
  confined.start();
  CHECK(confined.stage.await(kProber, PluginState::running));
}
