// SPDX-License-Identifier: Apache-2.0
#include "core/child/channel.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::child;
using koord::test::eventually;
using namespace std::chrono_literals;

namespace {

struct Pair {
  std::pair<Channel, Channel> ends = *Channel::pair();
  Channel& here = ends.first;
  Channel& there = ends.second;

  std::string received() {
    auto message = there.receive(5s);
    REQUIRE(message);
    REQUIRE(*message);
    return (*message)->bytes;
  }
};

// Counts open descriptors of /dev/zero and of the memory file below.
std::size_t open_descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& descriptor) {
    std::error_code is_closed;
    const std::string file = std::filesystem::read_symlink(descriptor, is_closed).string();
    return file == "/dev/zero" || file.starts_with("/memfd:koord-test");
  }));
}

// Sends a packet as a hostile child may do: these bytes with this descriptor.
void send_raw(int socket, std::string_view bytes, int fd) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  REQUIRE(::sendmsg(socket, &message, 0) >= 0);
}

}  // namespace

TEST_CASE_FIXTURE(Pair, "a message of any size arrives whole") {
  for (std::size_t size : {0, 1, 1000, 32'767, 32'768, 32'769, 1'000'000}) {
    CAPTURE(size);
    std::string sent(size, 'x');
    REQUIRE(here.send(sent));
    CHECK(received() == sent);
  }
}

TEST_CASE_FIXTURE(Pair, "a descriptor travels with a message") {
  UniqueFd null(::open("/dev/null", O_RDONLY));
  REQUIRE(here.send("look", null.get()));
  auto message = there.receive(5s);
  REQUIRE((message && *message));
  CHECK((*message)->bytes == "look");
  CHECK((*message)->fd.get() > null.get());
}

TEST_CASE_FIXTURE(Pair, "no message is not an error, but the end of the channel is") {
  auto nothing = there.receive(1ms);
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);
  here = Channel(UniqueFd());
  auto end = there.receive(1s);
  REQUIRE_FALSE(end);
  CHECK(end.error().is(std::errc::broken_pipe));
}

TEST_CASE_FIXTURE(Pair, "a message that is too large is refused by the sender") {
  CHECK_FALSE(here.send(std::string(Channel::kMaxBytes + 1, 'x')));
  CHECK_FALSE(here.send(std::string(100'000, 'x'), STDIN_FILENO));
}

TEST_CASE_FIXTURE(Pair, "a message of a child beyond 6 MiB is refused by the host, which reads nothing of it") {
  there.guard();
  REQUIRE(here.send(std::string(Channel::kMaxFromChild, 'x')));
  auto largest = there.receive(5s);
  REQUIRE((largest && *largest));
  CHECK((*largest)->bytes.size() == 6u << 20);
  REQUIRE(here.send(std::string(Channel::kMaxFromChild + 1, 'x')));
  auto refused = there.receive(5s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("a message of 6291457 bytes, expected at most 6291456") != std::string::npos);
}

TEST_CASE_FIXTURE(Pair, "a receiver that does not receive is not waited for without end") {
  Result<void> sent;
  for (int i = 0; sent && i < 10'000; ++i) sent = here.send(std::string(30'000, 'x'), -1, 1ms);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().is(std::errc::timed_out));
}

TEST_CASE_FIXTURE(Pair, "a child's message is no longer than the host wants it, and the error names both sizes") {
  there.guard(100'000);
  REQUIRE(here.send(std::string(100'000, 'x')));
  CHECK(there.receive(1s));
  REQUIRE(here.send(std::string(100'001, 'x')));
  const auto refused = there.receive(1s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text == "a message of 100001 bytes, expected at most 100000");
}

TEST_CASE_FIXTURE(Pair, "invalid packets are refused, and leave no descriptor open") {
  UniqueFd memory(::memfd_create("koord-test", MFD_CLOEXEC)), pipe(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(Channel::kMaxBytes) + 1) == 0);
  struct {
    std::string_view bytes;
    int fd;
  } rows[] = {{"?x", pipe.get()}, {"ix", pipe.get()}, {"m", pipe.get()}, {"m", memory.get()}, {"mx", memory.get()}};
  for (const auto& row : rows) {
    CAPTURE(row.bytes);
    send_raw(here.fd(), row.bytes, row.fd);
    CHECK_FALSE(there.receive(1s));
  }
  // A different thread closes the received descriptors, because close() may block.
  CHECK(eventually([] { return open_descriptors() == 2; }));
}
