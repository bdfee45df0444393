// SPDX-License-Identifier: Apache-2.0
// A third party's plugin tries what it must not do, in a process that has all layers of this kernel, or lacks some. Needs root.
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
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/linux_capability.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/landlock.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "test/core/host/stage.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;
using config::IsolationLayer;

namespace {

constexpr const char* kProber = "com.example.prober";
constexpr std::uint32_t kFirstUid = 2'000'100'000;

// A directory that ends with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes a capability from this thread as long as this object exists.
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

struct Confined {
  Scratch state;
  child::SnapshotImages images;
  child::Layers layers;
  test::HostStage stage{{"prober"}, 4, [this](const std::string& path, const Manifest& manifest, const FileStamp& file,
                                              const RunnerLimits& limits) {
                          return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images, nullptr, &layers}, path, manifest,
                                                      file, limits);
                        }};

  explicit Confined(std::function<void(child::Layers::Options&)> change = {}) : layers(options(state.path(), change)) {
    ::chmod(state.path().c_str(), 0711);
  }
  ~Confined() { stage.stop(); }

  static child::Layers::Options options(const std::string& directory, const std::function<void(child::Layers::Options&)>& change) {
    child::Layers::Options options{.state_directory = directory + "/state", .first_uid = kFirstUid, .uids = 10};
    if (change) change(options);
    return options;
  }

  void start(std::function<void(config::PluginSettings&)> change = {}) {
    config::PluginSettings settings = stage.settings().defaults;
    if (change) change(settings);
    stage.settings().settings[kProber] = settings;
    stage.apply("Prober=true");
  }
  bool runs() {
    if (!stage.await(kProber, PluginState::running)) return false;
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end)
      if (stage.host().value("probe_death_signal")) return true;
    return false;
  }
  double probe(const std::string& name) { return stage.host().value("probe_" + name).value_or(-1); }
  std::string isolation() { return stage.status(kProber).isolation.value_or(isolation_in_process()).text(); }
};

bool has_landlock() { return child::landlock_abi().has_value(); }

// Returns the error of landlock_abi() in a thread with a seccomp filter that answers its system call with this errno.
std::string landlock_error_behind_filter(std::uint32_t error) {
  std::string message = "the filter cannot be installed";
  std::thread([&] {
    constexpr std::uint32_t kCreateRuleset = 444;
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCreateRuleset, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{4, code};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return;
    const auto abi = child::landlock_abi();
    message = abi ? "no error" : abi.error().message();
  }).join();
  return message;
}

void grant(config::PluginSettings& settings, const char* capabilities) { settings.capabilities = *parse_capabilities(capabilities); }

// System calls that every child is denied, whatever layers the node has.
void check_system_calls(Confined& confined) {
  for (const char* name : {"kill_parent", "kill_all", "tgkill_parent", "prlimit_parent", "affinity_parent", "priority_parent",
                           "priority_user", "pidfd_parent", "pidfd_getfd", "clone_user", "clone_parent", "unshare", "ptrace", "flock", "keyctl",
                           "io_uring", "io_setup", "shared_memory", "socketpair_datagram", "userfaultfd", "read_parent_memory", "mount_setattr", "personality", "bpf_map", "perf_init", "socket_unix",
                           "socket_tcp", "socket_tcp6", "socket_udp", "socket_netlink", "socket_packet", "connect_tcp"})
    CHECK_MESSAGE(confined.probe(name) == EPERM, std::string(name));
  CHECK(confined.probe("clone3") == ENOSYS);
  for (const char* name : {"kill_self", "tgkill_self", "prlimit_self", "affinity_self", "priority_self", "clone", "socketpair", "socketpair_seqpacket", "program",
                           "thread", "read_passwd", "read_meminfo", "write_null", "copy"})
    CHECK_MESSAGE(confined.probe(name) == 0, std::string(name));
  CHECK(confined.probe("death_signal") == SIGKILL);
}

// Actions that a plugin with a user of its own, or one with rules for files, cannot do.
void check_files(Confined& confined) {
  CHECK(confined.probe("dumpable") == 0);
  for (const char* name : {"core_pattern", "read_shadow", "read_root", "write_parent_mem", "read_parent_environ", "read_parent_maps"})
    CHECK_MESSAGE(confined.probe(name) == EACCES, std::string(name));
  for (const char* name : {"leave_cgroup", "leave_unified"})
    CHECK_MESSAGE((confined.probe(name) == EACCES || confined.probe(name) == ENOENT), std::string(name));
}

}  // namespace

TEST_CASE_FIXTURE(Confined, "a plugin with all layers can neither look into, signal, limit nor leave anything but its own") {
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
  CHECK(confined.stage.status(kProber).isolation->missing.at(IsolationLayer::landlock).find("switched off") != std::string::npos);
}

TEST_CASE("a seccomp profile that forbids Landlock is named as the reason") {
  const std::string reason = "the seccomp profile of the agent's container or unit forbids landlock_create_ruleset";
  CHECK(landlock_error_behind_filter(EPERM) == reason);
  CHECK(landlock_error_behind_filter(ENOSYS).ends_with(", or " + reason));
}

TEST_CASE("without a user of its own Landlock keeps the plugin from files") {
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

TEST_CASE("every older Landlock gives what it has") {
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

TEST_CASE_FIXTURE(Confined, "a granted kind of socket can be made, and no other") {
  start([](auto& settings) { settings.network = kNetworkTcp; });
  REQUIRE(runs());
  CHECK(probe("socket_tcp") == 0);
  CHECK(probe("socket_tcp6") == 0);
  CHECK(probe("connect_tcp") == ECONNREFUSED);
  for (const char* name : {"socket_udp", "socket_unix", "socket_netlink", "socket_packet"}) CHECK_MESSAGE(probe(name) == EPERM, name);
}

TEST_CASE_FIXTURE(Confined, "kinds of sockets are granted one by one") {
  start([](auto& settings) { settings.network = kNetworkUdp | kNetworkUnix | kNetworkNetlink; });
  REQUIRE(runs());
  for (const char* name : {"socket_udp", "socket_unix", "socketpair_datagram", "socket_netlink"}) CHECK_MESSAGE(probe(name) == 0, name);
  for (const char* name : {"socket_tcp", "socket_tcp6", "connect_tcp"}) CHECK_MESSAGE(probe(name) == EPERM, name);
}

TEST_CASE_FIXTURE(Confined, "a granted path can be written, and no other") {
  start([](auto& settings) { settings.write_paths = {"/tmp"}; });
  REQUIRE(runs());
  CHECK(probe("write_tmp") == 0);
  CHECK(probe("core_pattern") == EACCES);
}

TEST_CASE_FIXTURE(Confined, "CAP_BPF and CAP_PERFMON hold under a user of its own and Landlock") {
  start([](auto& settings) { grant(settings, "CAP_BPF,CAP_PERFMON"); });
  REQUIRE(runs());
  CHECK(probe("uid") == kFirstUid);
  CHECK(probe("bpf_map") == 0);
  CHECK(probe("perf_init") == 0);
  CHECK(probe("kill_parent") == EPERM);
  CHECK(probe("core_pattern") == EACCES);
  CHECK(isolation().find("CAP_") == std::string::npos);  // they do not amount to root
}

TEST_CASE_FIXTURE(Confined, "CAP_SYS_PTRACE holds, because Landlock is left out, and the level says why") {
  start([](auto& settings) { grant(settings, "CAP_SYS_PTRACE"); });
  REQUIRE(runs());
  CHECK(probe("uid") == kFirstUid);
  CHECK(probe("read_parent_memory") == EFAULT);
  CHECK(probe("read_parent_maps") == 0);
  CHECK(probe("core_pattern") == EACCES);
  CHECK(isolation() == "uid+seccomp +CAP_SYS_PTRACE");
  CHECK(stage.status(kProber).isolation->missing.at(IsolationLayer::landlock).find("CAP_SYS_PTRACE") != std::string::npos);
}

TEST_CASE("CAP_KILL reaches no process of others where Landlock has rules for signals") {
  constexpr unsigned kRulesForSignals = 6;
  if (!has_landlock() || *child::landlock_abi() < kRulesForSignals) {
    MESSAGE("SKIPPED: the Landlock of this kernel has no rules for signals");
    return;
  }
  Confined confined;
  confined.start([](auto& settings) { grant(settings, "CAP_KILL"); });
  REQUIRE(confined.runs());
  CHECK(confined.probe("kill_parent") == EPERM);
  CHECK(confined.probe("kill_self") == 0);
}

TEST_CASE("a layer that is demanded and missing refuses the plugin, and the reason names the layer") {
  Confined confined([](auto& options) { options.uids = 0; });
  confined.stage.settings().minimum_isolation = {IsolationLayer::seccomp, IsolationLayer::uid};
  confined.start();
  REQUIRE(confined.stage.await(kProber, PluginState::refused));
  CHECK(confined.stage.status(kProber).reason.find("wanted the isolation layer 'uid' (plugins.minimumIsolation), which is missing: "
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
  CHECK(confined.stage.status(kProber).reason.find("wanted the isolation layer 'uid'") != std::string::npos);
  CHECK(test::eventually([&] { return confined.stage.status(kProber).instances.at(0).state == PluginState::stopped; }));
  confined.stage.settings().minimum_isolation.clear();
  confined.start();
  CHECK(confined.stage.await(kProber, PluginState::running));
}

TEST_CASE("the users of plugins are those of their directories, in every session") {
  Scratch directory;
  const std::string state = directory.path() + "/state";
  {
    child::PluginUids uids(state, kFirstUid, 3);
    CHECK(uids.user_of("a")->uid == kFirstUid);
    CHECK(uids.user_of("b")->uid == kFirstUid + 1);
    CHECK(uids.user_of("a")->uid == kFirstUid);
    CHECK(uids.user_of("a")->directory == state + "/a");
  }
  child::PluginUids later(state, kFirstUid, 3);
  CHECK(later.user_of("c")->uid == kFirstUid + 2);
  CHECK(later.user_of("b")->uid == kFirstUid + 1);
  auto none_left = later.user_of("d");
  REQUIRE_FALSE(none_left);
  CHECK(none_left.error().text.find("all 3 users of plugins.uids are taken") != std::string::npos);
}

TEST_CASE("another user's directory in the place of a plugin's own is set aside") {
  Scratch directory;
  const std::string state = directory.path() + "/state";
  std::filesystem::create_directories(state + "/a");
  std::filesystem::create_directory_symlink("/etc", state + "/b");
  child::PluginUids uids(state, kFirstUid, 3);
  for (const char* id : {"a", "b"}) {
    auto user = uids.user_of(id);
    REQUIRE(user);
    struct stat about;
    REQUIRE(::lstat(user->directory.c_str(), &about) == 0);
    CHECK(S_ISDIR(about.st_mode));
    CHECK(about.st_uid == user->uid);
    CHECK(std::filesystem::exists(std::filesystem::symlink_status(state + "/" + id + "~1")));
  }
}

TEST_CASE("a directory around the plugins' that all users may write is closed to them, unless its sticky bit protects the files in it") {
  for (const auto& [before, after] : {std::pair<mode_t, mode_t>{0777, 0775}, {01777, 01777}, {0755, 0755}}) {
    Scratch scratch;
    const std::string store = scratch.path() + "/store";
    std::filesystem::create_directory(store);
    REQUIRE(::chmod(store.c_str(), before) == 0);
    REQUIRE(child::PluginUids(store + "/plugin-state", kFirstUid, 3).user_of("a"));
    struct stat about;
    REQUIRE(::stat(store.c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == after);
  }
}

TEST_CASE("without a state directory plugins have users for the session, and a reason") {
  child::PluginUids uids("", kFirstUid, 3);
  auto user = uids.user_of("a");
  REQUIRE(user);
  CHECK(user->uid == kFirstUid);
  CHECK(user->directory.empty());
  CHECK(user->problem.find("plugins.stateDirectory") != std::string::npos);
  CHECK(uids.user_of("a")->uid == kFirstUid);
}
