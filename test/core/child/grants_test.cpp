// SPDX-License-Identifier: Apache-2.0
// Grants for a third-party plugin: each allows exactly what it names. Needs root.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "confined.hpp"
#include "core/base/unique_fd.hpp"

using namespace koord;
using namespace koord::host;
using config::IsolationLayer;
using test::Confined;
using test::grant;
using test::has_landlock;
using test::kFirstUid;
using test::kProber;

namespace {

// Listens on a socket in the abstract namespace.
class AbstractListener {
 public:
  explicit AbstractListener(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() + 1 < sizeof address.sun_path);
    name.copy(address.sun_path + 1, name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(fd_.get(), 8) == 0);
  }

 private:
  UniqueFd fd_;
};

}  // namespace

TEST_CASE_FIXTURE(Confined, "a granted kind of socket can be made, and no other") {
  start([](auto& settings) { settings.network = kNetworkTcp; });
  REQUIRE(runs());
  CHECK(probe("socket_tcp") == 0);
  CHECK(probe("socket_tcp6") == 0);
  CHECK(probe("connect_tcp") == ECONNREFUSED);
  for (const char* name : {"socket_udp", "socket_unix", "socket_netlink", "socket_packet"})
    CHECK_MESSAGE(probe(name) == EPERM, name);
}

TEST_CASE_FIXTURE(Confined, "kinds of sockets are granted one by one") {
  start([](auto& settings) { settings.network = kNetworkUdp | kNetworkUnix | kNetworkNetlink; });
  REQUIRE(runs());
  for (const char* name : {"socket_udp", "socket_unix", "socketpair_datagram", "socket_netlink"})
    CHECK_MESSAGE(probe(name) == 0, name);
  for (const char* name : {"socket_tcp", "socket_tcp6", "connect_tcp"}) CHECK_MESSAGE(probe(name) == EPERM, name);
}

TEST_CASE_FIXTURE(Confined, "a granted path can be written, and no other") {
  start([](auto& settings) { settings.write_paths = {"/tmp"}; });
  REQUIRE(runs());
  CHECK(probe("write_tmp") == 0);
  CHECK(probe("core_pattern") == EACCES);
}

TEST_CASE_FIXTURE(Confined, "CAP_BPF and CAP_PERFMON work with the plugin's own user and Landlock") {
  start([](auto& settings) { grant(settings, "CAP_BPF,CAP_PERFMON"); });
  REQUIRE(runs());
  CHECK(probe("uid") == kFirstUid);
  CHECK(probe("bpf_map") == 0);
  CHECK(probe("perf_init") == 0);
  CHECK(probe("kill_parent") == EPERM);
  CHECK(probe("core_pattern") == EACCES);
  CHECK(isolation().find("CAP_") == std::string::npos);  // the grants are not equal to root
}

TEST_CASE_FIXTURE(Confined, "CAP_SYS_PTRACE works, because Landlock is left out, and the level says why") {
  start([](auto& settings) { grant(settings, "CAP_SYS_PTRACE"); });
  REQUIRE(runs());
  CHECK(probe("uid") == kFirstUid);
  CHECK(probe("read_parent_memory") == EFAULT);
  CHECK(probe("read_parent_maps") == 0);
  CHECK(probe("core_pattern") == EACCES);
  CHECK(isolation() == "uid+seccomp +CAP_SYS_PTRACE");
  CHECK(stage.status(kProber).isolation->missing.at(IsolationLayer::landlock).find("CAP_SYS_PTRACE") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Confined,
                  "CAP_KILL reaches other processes, because the rule for signals is left out, and the others hold") {
  start([](auto& settings) { grant(settings, "CAP_KILL"); });
  REQUIRE(runs());
  CHECK(probe("kill_parent") == 0);
  CHECK(probe("core_pattern") == EACCES);
  if (has_landlock()) CHECK(probe("write_tmp") == EACCES);
}

TEST_CASE_FIXTURE(Confined, "a path of readPaths can be read and not written, and no other can be read") {
  if (!has_landlock()) {
    MESSAGE("SKIPPED: this kernel has no Landlock");
    return;
  }
  write_file("granted");
  write_file("other");
  start([this](auto& settings) { settings.read_paths = {state.path() + "/granted"}; });
  REQUIRE(runs());
  CHECK(probe("read_granted") == 0);
  CHECK(probe("write_granted") == EACCES);
  CHECK(probe("read_other") == EACCES);
}

TEST_CASE_FIXTURE(Confined, "without readPaths a file that every user may read is closed by Landlock alone") {
  write_file("granted");
  start();
  REQUIRE(runs());
  CHECK(probe("read_granted") == (has_landlock() ? EACCES : 0));
}

// CAP_NET_RAW removes the seccomp rule for socket types, so Landlock decides about the connection.
TEST_CASE("Landlock refuses TCP that is not granted, from ABI 4 on") {
  constexpr unsigned kRulesForTcp = 4;
  if (!has_landlock() || *child::landlock_abi() < kRulesForTcp) {
    MESSAGE("SKIPPED: the Landlock of this kernel has no rules for TCP");
    return;
  }
  struct Row {
    unsigned abi;
    NetworkMask network;
    int result;
  };
  for (const Row& row : {Row{*child::landlock_abi(), 0, EACCES},
                         {kRulesForTcp, 0, EACCES},
                         {kRulesForTcp, kNetworkTcp, ECONNREFUSED},
                         {kRulesForTcp - 1, 0, ECONNREFUSED}}) {
    CAPTURE(row.abi);
    Confined confined([&](auto& options) { options.newest_landlock_abi = row.abi; });
    confined.start([&](auto& settings) {
      grant(settings, "CAP_NET_RAW");
      settings.network = row.network;
    });
    REQUIRE(confined.runs());
    CHECK(confined.probe("connect_tcp") == row.result);
  }
}

TEST_CASE(
    "Landlock refuses abstract sockets of others, from ABI 6 on, also with a grant of unix sockets or of CAP_KILL") {
  constexpr unsigned kRulesForAbstractSockets = 6;
  if (!has_landlock() || *child::landlock_abi() < kRulesForAbstractSockets) {
    MESSAGE("SKIPPED: the Landlock of this kernel has no rules for abstract sockets");
    return;
  }
  const AbstractListener listener("koord-test-prober-" + std::to_string(::getpid()));
  struct Row {
    unsigned abi;
    const char* capability;
    int result;
  };
  for (const Row& row : {Row{*child::landlock_abi(), "CAP_NET_RAW", EPERM},
                         {kRulesForAbstractSockets, "CAP_KILL", EPERM},
                         {kRulesForAbstractSockets - 1, "CAP_NET_RAW", 0}}) {
    CAPTURE(row.abi);
    Confined confined([&](auto& options) { options.newest_landlock_abi = row.abi; });
    confined.start([&](auto& settings) {
      grant(settings, row.capability);
      settings.network = kNetworkUnix;
    });
    REQUIRE(confined.runs());
    CHECK(confined.probe("connect_abstract") == row.result);
  }
}
