// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/base/file.hpp"
#include "plugins/advisor-gpu/child_trial.hpp"
#include "plugins/advisor-gpu/device_facts.hpp"
#include "plugins/advisor-gpu/gpu_usage.hpp"
#include "plugins/advisor-gpu/process_list.hpp"
#include "plugins/advisor-gpu/process_owner.hpp"
#include "test/support/fake_node.hpp"

using namespace koord::gpu;
using namespace std::chrono_literals;
using koord::test::FakeNode;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::optional<std::vector<ProcessSample>> samples(std::vector<ProcessSample> list) { return list; }

// Returns NVML's buffer for two processes with elements of this length.
std::vector<std::byte> two_processes(std::size_t length) {
  std::vector<std::byte> buffer(8 * kLongestElement, kUntouched);
  const std::uint32_t pids[] = {11, 12};
  const std::uint64_t bytes[] = {4096, UINT64_MAX};
  for (std::size_t i = 0; i < 2; ++i) {
    std::memset(buffer.data() + i * length, 0xff, length);
    std::memcpy(buffer.data() + i * length, &pids[i], sizeof pids[i]);
    std::memcpy(buffer.data() + i * length + 8, &bytes[i], sizeof bytes[i]);
  }
  return buffer;
}

}  // namespace

TEST_CASE("the length of a process element is derived from the written bytes: 16, 24 or 32 bytes") {
  const std::vector<Process> expected = {{11, 4096}, {12, std::nullopt}};
  for (const std::size_t length : {16, 24, 32}) CHECK(decode_processes(two_processes(length), 2) == expected);
}

TEST_CASE("a list with elements of another length is rejected, an empty one is empty") {
  CHECK_FALSE(decode_processes(two_processes(20), 2));
  CHECK_FALSE(decode_processes(two_processes(24), 5));
  CHECK(decode_processes(std::vector<std::byte>(64, kUntouched), 0)->empty());
  CHECK_FALSE(decode_processes(std::vector<std::byte>(64, kUntouched), 1));
}

TEST_CASE("a process without a sample is idle, and keeps its memory") {
  ProcessLoad load;
  load.update(samples({{11, 100, 40}}), kSecond);
  CHECK(load.of({11, 4096}).core_percent == 40.0);
  CHECK(load.of({12, 8192}).core_percent == 0.0);
  CHECK(load.of({12, 8192}).memory_bytes == 8192.0);
}

TEST_CASE("the newest of several samples of a process counts") {
  ProcessLoad load;
  load.update(samples({{11, 100, 40}, {11, 300, 60}, {11, 200, 50}}), kSecond);
  CHECK(load.of({11, 0}).core_percent == 60.0);
  CHECK(load.newest_us() == 300);
}

TEST_CASE("a sample is valid for two seconds, because the driver does not sample at our ticks") {
  ProcessLoad load;
  load.update(samples({{11, 100, 40}}), kSecond);
  load.update(samples({}), 2 * kSecond);
  CHECK(load.of({11, 0}).core_percent == 40.0);
  load.update(samples({}), 4 * kSecond);
  CHECK(load.of({11, 0}).core_percent == 0.0);
}

TEST_CASE("a sample that is not a percentage is ignored") {
  ProcessLoad load;
  load.update(samples({{11, 100, 4'000'000'000}}), kSecond);
  CHECK(load.of({11, 0}).core_percent == 0.0);
}

TEST_CASE("if the device has no values by process the load is unknown, and so is every sum with it") {
  ProcessLoad load;
  load.update(std::nullopt, kSecond);
  Usage sum;
  sum.add({10.0, 4096.0});
  sum.add(load.of({11, std::nullopt}));
  CHECK_FALSE(sum.core_percent);
  CHECK_FALSE(sum.memory_bytes);
}

TEST_CASE("a process belongs to the container and pod with its cgroup or one above it") {
  const Owners owners = {
      {"kubepods/pod1", {std::nullopt, 1}}, {"kubepods/pod1/c1", {2, 1}}, {"system.slice/x.service", {3, {}}}};
  CHECK(owner_of("0::/kubepods/pod1/c1\n", owners) == Owner{2, 1});
  CHECK(owner_of("0::/kubepods/pod1/c1/inner/leaf\n", owners) == Owner{2, 1});
  CHECK(owner_of("0::/kubepods/pod1/other\n", owners) == Owner{std::nullopt, 1});
  CHECK(owner_of("0::/system.slice/x.service\n", owners) == Owner{3, std::nullopt});
  CHECK_FALSE(owner_of("0::/kubepods/pod11/c1\n", owners));
  CHECK_FALSE(owner_of("0::/\n", owners));
}

TEST_CASE("on cgroup v1 the first hierarchy with the container counts, even with colons in the path") {
  const Owners owners = {{"kubepods/pod1/a:b:c", {2, 1}}};
  CHECK(owner_of("9:name=systemd:/\n4:memory:/kubepods/pod1/a:b:c\n", owners) == Owner{2, 1});
}

TEST_CASE("a path outside of the agent's cgroup namespace is resolved from the root") {
  const Owners owners = {{"kubepods/pod1/c1", {2, 1}}};
  CHECK(owner_of("0::/../../kubepods/pod1/c1\n", owners) == Owner{2, 1});
}

TEST_CASE("invalid lines belong to no container") {
  CHECK_FALSE(owner_of("", {{"a", {1, 1}}}));
  CHECK_FALSE(owner_of("a\n::\n0:a\n", {{"a", {1, 1}}}));
}

TEST_CASE("NVML's bus id is converted to that of sysfs") {
  CHECK(sysfs_bus_id("00000000:3B:00.0") == "0000:3b:00.0");
  CHECK(sysfs_bus_id("00010000:AF:00.1") == "10000:af:00.1");
  CHECK(sysfs_bus_id("nonsense") == "nonsense");
}

TEST_CASE("NUMA node and PCIe root of a device are those of sysfs") {
  FakeNode node({{"sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/numa_node", "1\n"},
                 {"sys/devices/system/node/online", "0-1\n"}});
  node.link("sys/bus/pci/devices/0000:3b:00.0", "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0");
  const PciPlace place = pci_place(node.roots().sys, "0000:3b:00.0");
  CHECK(place.numa_node == 1);
  CHECK(place.pcie_root == "pci0000:3a");
}

TEST_CASE("a NUMA node of -1 is 0 on a machine with one node, and unknown on others") {
  FakeNode node({{"sys/bus/pci/devices/0000:3b:00.0/numa_node", "-1\n"}, {"sys/devices/system/node/online", "0\n"}});
  CHECK(pci_place(node.roots().sys, "0000:3b:00.0").numa_node == 0);
  node.write("sys/devices/system/node/online", "0-1\n");
  CHECK(pci_place(node.roots().sys, "0000:3b:00.0").numa_node == -1);
  CHECK(pci_place(node.roots().sys, "0000:99:00.0").numa_node == -1);
}

TEST_CASE("an NVIDIA GPU is a display controller of that vendor, not its sound device") {
  FakeNode node({{"sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n"},
                 {"sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n"},
                 {"sys/bus/pci/devices/0000:3b:00.1/vendor", "0x10de\n"},
                 {"sys/bus/pci/devices/0000:3b:00.1/class", "0x040300\n"},
                 {"sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n"},
                 {"sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n"}});
  CHECK(nvidia_gpus(node.roots().sys) == std::vector<std::string>{"0000:3b:00.0"});
}

TEST_CASE("a success in a child is a success; a failure is returned with its text") {
  auto fine = ChildTrial::start([]() -> koord::Result<void> { return {}; }, 20s);
  REQUIRE(fine);
  CHECK((*fine)->outcome(20s)->has_value());
  auto failed = ChildTrial::start([]() -> koord::Result<void> { return koord::not_found("no driver"); }, 20s);
  REQUIRE(failed);
  const auto outcome = (*failed)->outcome(20s);
  CHECK(outcome->error().is(std::errc::no_such_file_or_directory));
  CHECK(outcome->error().text == "no driver");
}

TEST_CASE("a crash in a child is returned with the signal") {
  auto trial = ChildTrial::start([]() -> koord::Result<void> { std::abort(); }, 20s);
  REQUIRE(trial);
  CHECK((*trial)->outcome(20s)->error().message().find("signal Aborted") != std::string::npos);
}

TEST_CASE("a hanging child is killed at the deadline; before, there is no result") {
  const auto hang = []() -> koord::Result<void> {
    for (;;) ::pause();
  };
  auto patient = ChildTrial::start(hang, 1h);
  REQUIRE(patient);
  CHECK_FALSE((*patient)->outcome(10ms));
  auto trial = ChildTrial::start(hang, 50ms);
  REQUIRE(trial);
  const auto outcome = (*trial)->outcome(20s);
  REQUIRE(outcome);
  CHECK(outcome->error().is(std::errc::timed_out));
  for (int i = 0; i < 2000 && !(*trial)->child_is_gone(); ++i) ::usleep(10'000);
  CHECK((*trial)->child_is_gone());
}

TEST_CASE("a child has no descriptor of the agent except its report") {
  auto trial = ChildTrial::start(
      []() -> koord::Result<void> {
        const auto open = koord::list_directory("/proc/self/fd");
        if (!open) return open.error();
        // 0, 1, 2, the descriptor of the report, and the descriptor of this listing
        if (open->size() > 5) return koord::invalid(std::to_string(open->size()) + " descriptors");
        return {};
      },
      20s);
  REQUIRE(trial);
  const auto outcome = (*trial)->outcome(20s);
  CHECK_MESSAGE(outcome->has_value(), outcome->error().message());
}
