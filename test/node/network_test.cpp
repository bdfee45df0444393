// SPDX-License-Identifier: Apache-2.0
// advisor-network on this machine's kernel: two network namespaces joined by a veth pair, with a process in each, which
// has its own cgroup. One process sends bytes through TCP. The plugin must report these bytes as sent by it and
// received by the other process.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;

namespace {

constexpr std::uint64_t kPayload = 16u << 20;
constexpr std::uint16_t kPort = 5000;

// Returns why the command failed; empty if it succeeded.
std::string ip(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  const Finished finished = run_to_end(arguments);
  return finished.exit_status == 0 ? "" : "ip " + arguments[1] + ": " + finished.output;
}

// Two namespaces, with 192.0.2.1 in the first and 192.0.2.2 in the second (RFC 5737: reserved for documentation).
class Cable {
 public:
  Cable() {
    for (int side : {0, 1}) must(ip({"netns", "add", space(side)}));
    must(ip({"link", "add", "eth0", "netns", space(0), "type", "veth", "peer", "name", "eth0", "netns", space(1)}));
    for (int side : {0, 1}) {
      must(ip({"-n", space(side), "addr", "add", "192.0.2." + std::to_string(side + 1) + "/24", "dev", "eth0"}));
      must(ip({"-n", space(side), "link", "set", "eth0", "up"}));
    }
  }
  ~Cable() {
    for (int side : {0, 1}) ip({"netns", "del", space(side)});
  }
  Cable(const Cable&) = delete;
  Cable& operator=(const Cable&) = delete;

  // Moves the calling process into a namespace.
  void enter(int side) const {
    const int fd = ::open(("/var/run/netns/" + space(side)).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::setns(fd, CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter " + space(side));
    ::close(fd);
  }
  std::string space(int side) const { return name_ + "-" + std::to_string(side); }

 private:
  void must(const std::string& problem) const {
    if (problem.empty()) return;
    for (int side : {0, 1}) ip({"netns", "del", space(side)});
    throw std::runtime_error(problem);
  }
  std::string name_ = "koord-test-" + std::to_string(::getpid());
};

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int end : ends) ::close(end);
  }
  void send(std::uint64_t value) const { static_cast<void>(!::write(ends[1], &value, sizeof value)); }
  std::uint64_t receive() const {
    std::uint64_t value = 0;
    return ::read(ends[0], &value, sizeof value) == sizeof value ? value : 0;
  }
  std::array<int, 2> ends{};
};

sockaddr_in address(const char* host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

// Reports 1 when it listens, and later how many bytes it received in total.
void receive(const Pipe& to_test) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in any = address("0.0.0.0");
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 || ::listen(listener, 1) != 0) return;
  to_test.send(1);
  const int connection = ::accept(listener, nullptr, nullptr);
  std::vector<char> buffer(1u << 16);
  std::uint64_t received = 0;
  for (ssize_t n; (n = ::read(connection, buffer.data(), buffer.size())) > 0;)
    received += static_cast<std::uint64_t>(n);
  to_test.send(received);
}

void send(const char* to) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in target = address(to);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) return;
  const std::vector<char> buffer(1u << 16, 'x');
  for (std::uint64_t sent = 0; sent < kPayload;) {
    const ssize_t n = ::write(connection, buffer.data(), std::min<std::uint64_t>(buffer.size(), kPayload - sent));
    if (n <= 0) return;
    sent += static_cast<std::uint64_t>(n);
  }
  ::close(connection);
}

// The processes stay after the transfer, because the plugin finds the namespaces through them.
struct NetworkFixture {
  Cable cable;
  RealCgroup receiving{"receiver"}, sending{"sender"}, at_home{"host-network"};
  Pipe to_test, go;
  ChildProcess receiver{[this] {
    receiving.add_process(::getpid());
    cable.enter(0);
    receive(to_test);
    ::pause();
  }};
  ChildProcess sender{[this] {
    sending.add_process(::getpid());
    cable.enter(1);
    to_test.send(2);
    go.receive();
    send("192.0.2.1");
    ::pause();
  }};
  ChildProcess homely{[this] {
    at_home.add_process(::getpid());
    to_test.send(4);
    ::pause();
  }};
};

double counter(const RealAdvisor& advisor, const char* metric, const RealCgroup& cgroup) {
  const std::optional<double> value = advisor.value(metric, cgroup);
  REQUIRE(value);
  return *value;
}

struct Counters {
  Counters(const RealAdvisor& advisor, const NetworkFixture& fixture)
      : received(counter(advisor, "container_network_receive_bytes_total", fixture.receiving)),
        sent(counter(advisor, "container_network_transmit_bytes_total", fixture.sending)),
        segments(counter(advisor, "container_network_tcp_segments_sent_total", fixture.sending)),
        retransmits(counter(advisor, "container_network_tcp_retransmits_total", fixture.sending)) {}
  double received, sent, segments, retransmits;
};

// Allows for a retransmitted segment of at most 64 KiB, which counts twice.
void check_bytes(double reported, double retransmits) {
  CHECK(reported >= static_cast<double>(kPayload));
  CHECK(reported <= 1.1 * static_cast<double>(kPayload) + retransmits * 65536);
}

}  // namespace

std::optional<std::string> why_not() {
  try {
    Cable cable;
  } catch (const std::exception& exception) {
    return "network namespaces cannot be joined here: " + std::string(exception.what());
  }
  return std::nullopt;
}

TEST_CASE("bytes from one namespace to another are counted as sent there and received here, within a tenth") {
  NetworkFixture fixture;
  std::uint64_t ready = 0;
  for (int i = 0; i < 3; ++i) ready += fixture.to_test.receive();
  REQUIRE(ready == 7);
  RealAdvisor advisor({&fixture.receiving, &fixture.sending, &fixture.at_home});
  advisor.tick();
  const Counters before(advisor, fixture);
  fixture.go.send(1);
  REQUIRE(fixture.to_test.receive() == kPayload);
  advisor.host().clock().advance(std::chrono::seconds(30));  // the plugin reads TCP counters only at this interval
  advisor.tick();
  const Counters after(advisor, fixture);
  const double retransmits = after.retransmits - before.retransmits;
  check_bytes(after.received - before.received, retransmits);
  check_bytes(after.sent - before.sent, retransmits);
  CHECK(after.segments > before.segments);
  CHECK_FALSE(advisor.value("container_network_receive_bytes_total", fixture.at_home));
}
