// SPDX-License-Identifier: Apache-2.0
// Tests of the plugin on the host's real services, with a fake of the driver's library.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/file.hpp"
#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

using namespace std::chrono_literals;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

std::string stand_in(const std::string& name) {
  const char* folder = std::getenv("KOORD_STAND_INS");
  if (!folder)
    throw std::runtime_error("KOORD_STAND_INS names the folder with the stand-ins for NVML; meson test sets it");
  return std::string(folder) + "/stand-in-nvml-" + name + ".so";
}

constexpr const char* kGpuA = "device GPU-a 3 00000000:3B:00.0 8000 700 55\n";
constexpr const char* kGpuB = "device GPU-b 4 00000000:AF:00.0 9000 800 66\n";

// A node with a fake driver that returns the test's values.
struct GpuNode {
  explicit GpuNode(const std::string& facts, const std::string& library = "usual",
                   const std::string& more_config = "") {
    driver_says(facts);
    ::setenv("KOORD_STAND_IN_NVML", node.path("nvml").c_str(), 1);
    config = R"({"library": ")" + stand_in(library) + '"' + more_config + "}";
    host.emplace(node, config);
    advisor.emplace(*host, koord_entry_v1());
  }

  void driver_says(const std::string& facts) { node.write("nvml", facts); }
  void process(int pid, const std::string& cgroup) {
    node.write("proc/" + std::to_string(pid) + "/cgroup", "4:memory:/\n0::/" + cgroup + "\n");
  }
  void publish_pod() {
    koord::state::Pod pod;
    pod.uid = pod.name = "pod1";
    pod.cgroup_dir = "kubepods/pod1";
    pod.containers.push_back({.id = "containerd://c1", .name = "train", .cgroup_dir = "kubepods/pod1/c1"});
    host->hub().publish({.pods = std::vector{pod}});
  }
  koord_status tick() {
    host->clock().advance(1s);
    return advisor->collect();
  }
  // Ticks once a simulated minute until the driver is found.
  void wait_for_driver() {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!host->value("node_gpu_memory_total") && std::chrono::steady_clock::now() < end) {
      host->clock().advance(61s);
      REQUIRE(advisor->collect() == KOORD_OK);
      ::usleep(10'000);
    }
  }
  std::string fact() {
    const auto* kv = host->service<koord_svc_kv>("koord.kv/1");
    return koord::plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return kv->get(host->abi(), koord::plugin::str("test/GPU"), buf, cap, need);
    });
  }
  std::optional<koord::service::Capability> capability(const std::string& name) {
    return host->capabilities().find(name, "test");
  }

  FakeNode node;
  std::string config;
  std::optional<FakeHost> host;
  std::optional<FakeInstance> advisor;
};

bool is_mapped(const std::string& library) {
  return koord::read_file("/proc/self/maps").value_or("").find(library) != std::string::npos;
}

}  // namespace

TEST_CASE("without the library and without a GPU the plugin is absent, with the dynamic loader's reason") {
  FakeNode node;
  FakeHost host(node, R"({"library": "libnvidia-ml-that-is-not-there.so.1"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("there is no NVIDIA GPU: libnvidia-ml-that-is-not-there.so.1") != std::string::npos);
}

TEST_CASE("with the library but without driver and GPU it is absent, too") {
  GpuNode gpu("init 9\n");
  CHECK(gpu.advisor->init() == KOORD_E_UNSUPPORTED);
  CHECK(gpu.advisor->why() == "there is no NVIDIA GPU: nvmlInit_v2: Driver Not Loaded: NVML error 9");
}

TEST_CASE("devices, pods and containers have their values, labelled with minor number and UUID") {
  GpuNode gpu(std::string(kGpuA) + kGpuB +
              "process 0 11 4096\nprocess 0 12 1024\nprocess 1 13 2048\nsample 0 11 40 100\n");
  gpu.process(11, "kubepods/pod1/c1/inner");
  gpu.process(12, "user.slice");
  gpu.publish_pod();
  REQUIRE_MESSAGE(gpu.advisor->init() == KOORD_OK, gpu.advisor->why());
  CHECK(gpu.tick() == KOORD_OK);
  const koord::metric::Labels a = {{"gpu_minor", "3"}, {"gpu_device_uuid", "GPU-a"}};
  CHECK(gpu.host->value("node_gpu_core_usage", a) == 40.0);
  CHECK(gpu.host->value("node_gpu_memory_usage", a) == 5120.0);
  CHECK(gpu.host->value("node_gpu_memory_total", a) == 8000.0);
  CHECK(gpu.host->value("pod_gpu_core_usage", {{"pod_uid", "pod1"}, {"gpu_minor", "3"}}) == 40.0);
  CHECK(gpu.host->value("container_gpu_memory_usage", {{"container_id", "containerd://c1"}, {"gpu_minor", "3"}}) ==
        4096.0);
  CHECK(gpu.host->value("node_gpu_memory_usage", {{"gpu_minor", "4"}}) == 2048.0);
  CHECK(gpu.host->series("container_gpu_memory_usage").size() == 1);
}

TEST_CASE("drivers with other lengths of a process element give the same values") {
  for (const char* library : {"first", "long"}) {
    GpuNode gpu(std::string(kGpuA) + "process 0 11 4096\nprocess 0 12 1024\n", library);
    REQUIRE(gpu.advisor->init() == KOORD_OK);
    CHECK(gpu.tick() == KOORD_OK);
    CHECK(gpu.host->value("node_gpu_memory_usage") == 5120.0);
  }
}

TEST_CASE("more processes than the buffer had room for are all counted") {
  std::string facts = kGpuA;
  for (int pid = 100; pid < 140; ++pid)
    facts += "process 0 " + std::to_string(pid) + " 100\nsample 0 " + std::to_string(pid) + " 1 5\n";
  GpuNode gpu(facts);
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  CHECK(gpu.host->value("node_gpu_memory_usage") == 4000.0);
  CHECK(gpu.host->value("node_gpu_core_usage") == 40.0);
}

TEST_CASE("without values by process the node has the device's values, and containers have none") {
  GpuNode gpu(std::string(kGpuA) + "unsampled 0\nprocess 0 11 -1\n");
  gpu.process(11, "kubepods/pod1/c1");
  gpu.publish_pod();
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  CHECK(gpu.host->value("node_gpu_core_usage") == 55.0);
  CHECK(gpu.host->value("node_gpu_memory_usage") == 700.0);
  CHECK_FALSE(gpu.host->value("container_gpu_core_usage"));
  CHECK_FALSE(gpu.host->value("container_gpu_memory_usage"));
}

TEST_CASE("a container that stopped using the device has no values of it any more") {
  GpuNode gpu(std::string(kGpuA) + "process 0 11 4096\n");
  gpu.process(11, "kubepods/pod1/c1");
  gpu.publish_pod();
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  CHECK(gpu.host->value("container_gpu_memory_usage") == 4096.0);
  gpu.driver_says(kGpuA);
  gpu.tick();
  CHECK_FALSE(gpu.host->value("container_gpu_memory_usage"));
  CHECK(gpu.host->value("node_gpu_memory_usage") == 0.0);
}

TEST_CASE("a device that fails has no values and its reason is reported; others continue, and it is found again") {
  const std::string both = std::string(kGpuA) + kGpuB;
  GpuNode gpu(both);
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  gpu.driver_says(both + "broken 0 15\n");
  CHECK(gpu.tick() == KOORD_OK);
  CHECK_FALSE(gpu.host->value("node_gpu_memory_usage", {{"gpu_minor", "3"}}));
  CHECK(gpu.host->value("node_gpu_memory_usage", {{"gpu_minor", "4"}}) == 0.0);
  CHECK(
      gpu.fact().find(
          R"("status":{"healthy":false,"errCode":"NVMLError15","errMessage":"listing processes: GPU is lost: NVML error 15"})") !=
      std::string::npos);
  gpu.driver_says(both);
  gpu.tick();
  CHECK(gpu.host->value("node_gpu_memory_usage", {{"gpu_minor", "3"}}) == 0.0);
}

TEST_CASE("the list of devices is a fact with koordlet's member names") {
  GpuNode gpu(kGpuA);
  gpu.node.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "0\n");
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  CHECK(gpu.fact() == R"([{"id":"GPU-a","minor":3,"memory-total":8000,"nodeID":0,"pcie":"","busID":"0000:3b:00.0",)"
                      R"("status":{"healthy":true}}])");
}

TEST_CASE("a driver that hangs is broken with that reason, blocks no tick, and is used once it responds") {
  GpuNode gpu("hang\n", "usual", R"(, "probeTimeout": "200ms")");
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  CHECK(gpu.capability("nvml")->state == koord::service::CapabilityState::broken);
  CHECK(gpu.capability("nvml")->detail == "the driver hangs: opening NVML did not end within 200ms");
  CHECK_FALSE(is_mapped(stand_in("usual")));
  CHECK(gpu.tick() == KOORD_OK);
  gpu.driver_says(kGpuA);
  gpu.wait_for_driver();
  CHECK(gpu.host->value("node_gpu_memory_total") == 8000.0);
  CHECK(gpu.capability("nvml")->state == koord::service::CapabilityState::supported);
}

TEST_CASE("a library that ends its process only ends the child") {
  GpuNode gpu("crash\n");
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  CHECK(gpu.capability("nvml")->detail.find("signal Aborted") != std::string::npos);
}

TEST_CASE("a library that lacks a function is broken, and the function is named") {
  GpuNode gpu(kGpuA, "incomplete");
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  CHECK(gpu.capability("nvml")->state == koord::service::CapabilityState::broken);
  CHECK(gpu.capability("nvml")->detail == "the library misses the function nvmlDeviceGetUUID");
}

TEST_CASE("a GPU without a driver is retried, because the driver may come later") {
  GpuNode gpu("init 9\n");
  gpu.node.write("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  gpu.node.write("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  CHECK(gpu.capability("nvml")->state == koord::service::CapabilityState::absent);
  gpu.driver_says(kGpuA);
  gpu.wait_for_driver();
  CHECK(gpu.host->value("node_gpu_memory_total") == 8000.0);
}

TEST_CASE("a device that comes later is found") {
  GpuNode gpu(kGpuA);
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  gpu.driver_says(std::string(kGpuA) + kGpuB);
  gpu.host->clock().advance(61s);
  gpu.tick();
  CHECK(gpu.host->value("node_gpu_memory_total", {{"gpu_minor", "4"}}) == 9000.0);
}

TEST_CASE("a released driver is unmapped and its series end; after it is opened again they return") {
  GpuNode gpu(kGpuA);
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  gpu.tick();
  CHECK(is_mapped(stand_in("usual")));
  REQUIRE(gpu.host->context().set_config_json(R"({"library": ")" + stand_in("usual") + R"(", "release": true})"));
  REQUIRE(gpu.advisor->on_event(KOORD_ON_CONFIG) == KOORD_OK);
  CHECK_FALSE(is_mapped(stand_in("usual")));
  gpu.tick();
  CHECK_FALSE(gpu.host->value("node_gpu_memory_total"));
  CHECK(gpu.capability("nvml")->detail == "released, as configured");
  CHECK(gpu.capability("gpu 0")->state == koord::service::CapabilityState::absent);
  REQUIRE(gpu.host->context().set_config_json(gpu.config));
  REQUIRE(gpu.advisor->on_event(KOORD_ON_CONFIG) == KOORD_OK);
  gpu.wait_for_driver();
  CHECK(gpu.host->value("node_gpu_memory_total") == 8000.0);
}

TEST_CASE("a plugin that is stopped closes the driver") {
  GpuNode gpu(kGpuA);
  REQUIRE(gpu.advisor->init() == KOORD_OK);
  CHECK(is_mapped(stand_in("usual")));
  gpu.advisor->stop();
  CHECK_FALSE(is_mapped(stand_in("usual")));
}

TEST_CASE("a timeout that is not a time is refused with what is expected") {
  FakeNode node;
  FakeHost host(node, R"({"probeTimeout": "soon"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_INVALID);
  CHECK(advisor.why() == "probeTimeout: 'soon' is not a duration, expected one such as 5s");
}
