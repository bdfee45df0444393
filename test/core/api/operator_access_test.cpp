// SPDX-License-Identifier: Apache-2.0
// Uses sockets and processes of this machine. test/node tests processes in cgroups and of other users.
#include "core/api/operator_access.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

using namespace koord;
using namespace koord::api;

namespace {

// Both ends of a unix socket in this process.
struct Ends {
  Ends() {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    ours.reset(fds[0]);
    theirs.reset(fds[1]);
  }
  UniqueFd ours, theirs;
};

}  // namespace

TEST_CASE("the kernel names user, group and process of the other end") {
  const Ends ends;
  const http::LocalPeer peer = *http::local_peer(ends.ours.get());
  CHECK(peer.uid == ::geteuid());
  CHECK(peer.gid == ::getegid());
  CHECK(peer.pid == ::getpid());
  CHECK_FALSE(peer.has_ended());
}

TEST_CASE("the agent's own user may use the data API, and is named in records") {
  const Ends ends;
  const http::LocalPeer peer = *http::local_peer(ends.ours.get());
  CHECK(OperatorAccess({}).admit(peer));
  CHECK(operator_name(peer).starts_with("operator uid " + std::to_string(::geteuid()) + " pid " +
                                        std::to_string(::getpid()) + " ("));
}

TEST_CASE("another user is refused by name unless the group of the socket is one of its groups") {
  http::LocalPeer peer{4711, 4712, {4713, 4714}, 0, {}};
  CHECK(OperatorAccess({}).admit(peer).error().message().find("uid 4711 of another PID namespace is not root") !=
        std::string::npos);
  CHECK(OperatorAccess(4712).admit(peer));
  CHECK(OperatorAccess(4714).admit(peer));
  CHECK(OperatorAccess(4715).admit(peer).error().message().find(
            "is neither root nor in group 4715 (listen.socketGroup)") != std::string::npos);
}

TEST_CASE("a user of plugins is refused even as a member of the socket's group") {
  const OperatorAccess access(4712, {2'000'000'000, 10});
  CHECK(access.admit({2'000'000'009, 4712, {}, 0, {}}).error().message().find("is a plugin's user") !=
        std::string::npos);
  CHECK(access.admit({2'000'000'010, 4712, {}, 0, {}}));
  CHECK(access.admit({1'999'999'999, 4712, {}, 0, {}}));
}

TEST_CASE("a process that descends from the agent is refused, whatever its user") {
  std::array<int, 2> stop{};
  REQUIRE(::pipe(stop.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(stop[1]);
    char byte = 0;
    ::_exit(static_cast<int>(::read(stop[0], &byte, 1)));
  }
  const http::LocalPeer peer{0, 0, {}, child, {}};
  CHECK(OperatorAccess(0).admit(peer).error().message().find("is a plugin's process, started by the agent") !=
        std::string::npos);
  ::close(stop[1]);
  ::close(stop[0]);
  ::waitpid(child, nullptr, 0);
  CHECK(OperatorAccess(0).admit(peer).error().message().find("has ended") != std::string::npos);
}

TEST_CASE("a group is named by number or name, and one that does not exist is an error") {
  CHECK(*find_group("") == std::nullopt);
  CHECK(*find_group("4711") == gid_t{4711});
  CHECK(*find_group("root") == gid_t{0});
  CHECK(find_group("koord-test-none")
            .error()
            .message()
            .find("no group 'koord-test-none' on this node, expected a name or a number") != std::string::npos);
}
