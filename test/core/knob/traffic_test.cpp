// SPDX-License-Identifier: Apache-2.0
// Classes of outgoing traffic (tc.classes) on this machine's kernel, on the loopback interface of a network namespace
// that each test makes. The machine's own interfaces are not changed. Needs root.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/unique_fd.hpp"
#include "core/knob/executor.hpp"
#include "core/knob/traffic_control.hpp"
#include "core/knob/traffic_text.hpp"
#include "test/support/child_process.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/own_network.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using koord::test::FakeNode;

namespace {

constexpr const char* kClasses = "1=125000000:125000000:0;2=100000000:125000000:1;3=20000000:125000000:2";
constexpr std::uint16_t kPort = 5001;

// The interface of a new network namespace, in which this thread runs until the end of the test.
class Interface : koord::test::OwnNetwork {
 public:
  Interface() {
    std::array<char, 100> name{};
    REQUIRE(::readlink("/proc/thread-self/ns/net", name.data(), name.size() - 1) > 0);
    node.write("proc/1/ns/x", "");
    REQUIRE(::symlink(name.data(), (node.path("proc/1/ns/net")).c_str()) == 0);
  }

  static std::string tc(const std::vector<std::string>& arguments) {
    const koord::test::Finished finished = koord::test::run_to_end(arguments);
    CHECK_MESSAGE(finished.exit_status == 0, finished.output);
    return finished.output;
  }
  static std::string qdisc() { return tc({"tc", "qdisc", "show", "dev", "lo"}); }

  FakeNode node;
  const Knob& knob = *find_knob("tc.classes");
  KnobTarget lo{knob, "lo"};
  TrafficControl control{node.path("proc"), TrafficControl::Filter::none};
};

struct Session : Interface {
  KnobFiles files{*cgroup::Layout::detect(NodeRoots()), roots()};
  MemoryOriginals originals;
  ManualClock clock;
  Executor executor{files, originals, clock};

  NodeRoots roots() const {
    NodeRoots all;
    all.proc = node.path("proc");
    return all;
  }
  Done apply(const char* text) {
    return executor.apply({Order{Level::node, "lo", &knob, *parse_value(knob, text), "hook-network"}}).done.at(0);
  }
  // Returns whether this kernel can filter by cgroup. If it cannot, the knob must report this and leave no changes.
  bool has_filter() {
    const Result<void> written = files.write(lo, {kClasses}, {""});
    if (written) {
      REQUIRE(files.write(lo, {""}, {kClasses}));
      return true;
    }
    CHECK(written.error().is(std::errc::not_supported));
    CHECK(written.error().message().find("CONFIG_NET_CLS_CGROUP") != std::string::npos);
    CHECK(qdisc().find("htb") == std::string::npos);
    CHECK(apply(kClasses).outcome == Outcome::unsupported);
    MESSAGE("not proven here: ", written.error().message());
    return false;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Interface, "the classes of an interface are made, changed, read back and removed") {
  CHECK(*control.read(lo) == "");
  REQUIRE(control.write(lo, kClasses));
  CHECK(*control.read(lo) == kClasses);
  CHECK(qdisc().find("htb 6b6f: root") != std::string::npos);
  const char* other = "1=125000000:125000000:0;2=50000000:125000000:1;4=1000:12500000000:7;40000=1000:2500:3";
  REQUIRE(control.write(lo, other));
  CHECK(*control.read(lo) == other);
  CHECK(tc({"tc", "class", "show", "dev", "lo"}).find("class htb 6b6f:9c40 parent 6b6f:1") != std::string::npos);
  REQUIRE(control.write(lo, ""));
  CHECK(*control.read(lo) == "");
  CHECK(qdisc().find("htb") == std::string::npos);
  REQUIRE(control.write(lo, ""));
}

TEST_CASE_FIXTURE(Interface, "rates beyond 32 bits are read back as they were written") {
  const char* fast = "1=12500000000:12500000000:0;2=5000000000:12500000000:1";
  REQUIRE(control.write(lo, fast));
  CHECK(*control.read(lo) == fast);
}

TEST_CASE_FIXTURE(Interface, "the queueing discipline of another program is neither replaced nor read, and is named") {
  tc({"tc", "qdisc", "add", "dev", "lo", "root", "handle", "1:", "htb", "default", "2"});
  const std::string before = qdisc();
  for (const Result<void>& refused : {control.write(lo, kClasses), control.write(lo, ""),
                                      control.read(lo) ? Result<void>() : Result<void>(control.read(lo).error())}) {
    REQUIRE_FALSE(refused);
    CHECK(refused.error().is(std::errc::not_supported));
    CHECK(refused.error().message().find("'htb' of another program") != std::string::npos);
  }
  CHECK(qdisc() == before);
}

TEST_CASE_FIXTURE(Interface, "a missing interface is gone, and in another network namespace the knob is unsupported") {
  const KnobTarget missing{knob, "koord-test-0"};
  CHECK(control.read(missing).error().is(std::errc::no_such_device));
  CHECK(control.write(missing, kClasses).error().is(std::errc::no_such_device));
  const FakeNode other({{"proc/1/ns/x", ""}});
  REQUIRE(::symlink("net:[1]", other.path("proc/1/ns/net").c_str()) == 0);
  const Result<void> elsewhere = TrafficControl(other.path("proc")).write(lo, kClasses);
  REQUIRE_FALSE(elsewhere);
  CHECK(elsewhere.error().is(std::errc::not_supported));
  CHECK(elsewhere.error().message().find("needs hostNetwork") != std::string::npos);
  CHECK(TrafficControl("/nowhere").read(lo).error().message().find("hostPID") != std::string::npos);
  CHECK(qdisc().find("htb") == std::string::npos);
}

TEST_CASE_FIXTURE(Session, "classes are applied, written again after another writer, and reverted after a kill") {
  if (!has_filter()) return;
  const Done done = apply(kClasses);
  CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
  CHECK(done.before == "");
  CHECK(done.after == kClasses);
  tc({"tc", "class", "change", "dev", "lo", "parent", "6b6f:1", "classid", "6b6f:3", "htb", "rate", "8mbit"});
  clock.advance(std::chrono::minutes(1));
  CHECK(apply(kClasses).outcome == Outcome::applied);
  CHECK(*control.read(lo) == kClasses);
  const KnobFiles after_kill{*cgroup::Layout::detect(NodeRoots()), roots()};
  Executor session{after_kill, originals, clock};
  CHECK(session.adopt(originals.all(), std::chrono::seconds(0), false).empty());
  for (const Undone& undone : session.apply({}).undone)
    CHECK_MESSAGE(undone.done.outcome == Outcome::reverted, undone.done.problem);
  CHECK(qdisc().find("htb") == std::string::npos);
}

TEST_CASE_FIXTURE(Session,
                  "packets of a cgroup are in the class that its net_cls.classid names, others in the default") {
  if (!has_filter()) return;
  REQUIRE(apply(kClasses).outcome == Outcome::applied);
  REQUIRE(::unshare(CLONE_NEWNS) == 0);
  REQUIRE(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  const std::string tree = node.path("net_cls");
  REQUIRE(::mkdir(tree.c_str(), 0755) == 0);
  if (::mount("koord-test", tree.c_str(), "cgroup", 0, "net_cls") != 0) {
    MESSAGE("not proven here: this kernel has no net_cls");
    return;
  }
  const std::string pod = tree + "/koord-test-" + std::to_string(::getpid());
  REQUIRE(::mkdir(pod.c_str(), 0755) == 0);
  REQUIRE(write_value(pod + "/net_cls.classid", std::to_string(kTrafficMajor << 16 | 3)));
  const auto send_packets = [] {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(kPort);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string payload(1000, 'x');
    for (int i = 0; i < 10; ++i)
      ::sendto(socket.get(), payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  };
  const auto sent = [&](const char* class_name) {
    const std::string all = tc({"tc", "-s", "class", "show", "dev", "lo"});
    const std::size_t at = all.find("Sent ", all.find(class_name));
    return at == std::string::npos ? 0 : std::strtoull(all.c_str() + at + 5, nullptr, 10);
  };
  send_packets();
  CHECK(sent("class htb 6b6f:2 ") >= 10'000);
  CHECK(sent("class htb 6b6f:3 ") == 0);
  REQUIRE(write_value(pod + "/cgroup.procs", std::to_string(::getpid())));
  send_packets();
  CHECK(sent("class htb 6b6f:3 ") >= 10'000);
  REQUIRE(write_value(tree + "/cgroup.procs", std::to_string(::getpid())));
  CHECK(::rmdir(pod.c_str()) == 0);
  CHECK(::umount(tree.c_str()) == 0);
}

int main(int argc, char** argv) {
  if (!koord::test::OwnNetwork::is_available()) {
    std::puts("skipped: no network namespace can be made here");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
