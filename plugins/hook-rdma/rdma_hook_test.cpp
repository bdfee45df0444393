// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/hook-rdma/rdma_nodes.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::hook_rdma;
using koord::device::Device;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Fields = decltype(koord::host::HookSettings::fields);

namespace {

FakeNode node() {
  return FakeNode({{"sys/class/misc/rdma_cm/dev", "10:58\n"},
                   {"sys/bus/pci/devices/0000:09:00.0/infiniband_verbs/uverbs0/dev", "231:192\n"},
                   {"sys/bus/pci/devices/0000:09:00.3/infiniband_verbs/uverbs3/dev", "231:195\n"},
                   {"sys/bus/pci/devices/0000:0a:00.0/infiniband_verbs/", ""}});
}

Device device(const std::string& id, std::vector<std::string> virtual_functions = {}) {
  Device device;
  device.id = id;
  device.virtual_functions = std::move(virtual_functions);
  return device;
}

}  // namespace

TEST_CASE("a container uses the virtual functions of a device, or else the device itself") {
  CHECK(addresses_of({})->empty());
  CHECK(*addresses_of({device("0000:09:00.0")}) == std::vector<std::string>{"0000:09:00.0"});
  CHECK(*addresses_of({device("0000:09:00.0", {"0000:09:00.2", "0000:09:00.3"}), device("0000:0a:00.0")}) ==
        std::vector<std::string>{"0000:09:00.2", "0000:09:00.3", "0000:0a:00.0"});
  CHECK(addresses_of({device("mlx5_0")}).error().message() ==
        "RDMA device 0 has neither virtual functions nor a PCI address as its id");
}

TEST_CASE("each function has a verbs node in addition to the connection manager's, and a missing node is named") {
  const FakeNode fake = node();
  const std::string sys = fake.path("sys");
  CHECK(find_nodes(sys, {})->empty());
  CHECK(*find_nodes(sys, {"0000:09:00.0"}) == std::vector<DeviceNode>{{"rdma_cm", "10:58"}, {"uverbs0", "231:192"}});
  for (const char* missing : {"0000:0a:00.0", "0000:0b:00.0"}) {
    const auto nodes = find_nodes(sys, {missing});
    REQUIRE_FALSE(nodes);
    CHECK(nodes.error().message().find("RDMA device " + std::string(missing) + " has no device node") !=
          std::string::npos);
  }
  CHECK(find_nodes("/nowhere", {"0000:09:00.0"}).error().message().find("connection manager") != std::string::npos);
  CHECK(field_of({"uverbs0", "231:192"}) ==
        std::pair<std::string, std::string>("device:/dev/infiniband/uverbs0", "c 231:192 0666"));
}

TEST_CASE("the hook gives a container its devices, and refuses one if a device has no node") {
  const FakeNode fake = node();
  FakeHost host(fake);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  CHECK(host.capabilities().find("rdma_device_nodes")->state == koord::service::CapabilityState::supported);
  Pod pod;
  pod.containers.emplace_back();
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
  const auto allocate = [&](const std::string& devices) {
    pod.annotations = {{std::string(koord::device::kAnnotation), R"({"rdma":)" + devices + "}"}};
    return hook.handle(pod, &pod.containers[0]);
  };
  CHECK(allocate(R"([{"minor":0,"id":"0000:09:00.0","extension":{"vfs":[{"minor":2,"busID":"0000:09:00.3"}]}}])")
            .fields == Fields{{"device:/dev/infiniband/rdma_cm", "c 10:58 0666"},
                              {"device:/dev/infiniband/uverbs3", "c 231:195 0666"}});
  for (const char* hostile : {"7", R"([{"minor":0,"id":"../../../../dev"}])", R"([{"minor":0,"id":"0000:0b:00.0"}])",
                              R"([{"minor":0,"extension":{"vfs":[{"busID":"0000:09:00.3/../.."}]}}])"}) {
    CAPTURE(hostile);
    const auto answer = allocate(hostile);
    CHECK(answer.fields.empty());
    CHECK(answer.rejection.value_or("").size() > 10);
  }
}

TEST_CASE("on a node without RDMA that is reported") {
  const FakeNode plain;
  FakeHost host(plain);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  const auto capability = host.capabilities().find("rdma_device_nodes");
  CHECK(capability->state == koord::service::CapabilityState::absent);
  CHECK(capability->detail == "the kernel module rdma_ucm is not loaded");
}
