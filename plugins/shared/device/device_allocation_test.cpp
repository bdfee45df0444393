// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/device/device_allocation.hpp"

#include <doctest/doctest.h>

using namespace koord::device;

TEST_CASE("an allocation lists devices by type, with resources and virtual functions") {
  const char* annotation = R"({"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-memory-ratio":"50"},"id":"GPU-1"}],
    "rdma":[{"minor":0,"id":"0000:09:00.0","extension":{"vfs":[{"minor":2,"busID":"0000:09:00.3"}]}}]})";
  const auto gpus = parse_allocation(annotation, "gpu");
  REQUIRE(gpus);
  REQUIRE(gpus->size() == 1);
  CHECK(gpus->front().minor == 1);
  CHECK(gpus->front().id == "GPU-1");
  CHECK(gpus->front().resources.at("koordinator.sh/gpu-memory-ratio") == 50);
  const auto rdma = parse_allocation(annotation, "rdma");
  REQUIRE(rdma);
  REQUIRE(rdma->size() == 1);
  CHECK(rdma->front().virtual_functions == std::vector<std::string>{"0000:09:00.3"});
  for (const char* none : {"", "{}", R"({"fpga":[{"minor":0}]})", R"({"gpu":[]})", R"({"gpu":null})"})
    CHECK(parse_allocation(none, "gpu")->empty());
}

TEST_CASE("the error about an unreadable allocation names the annotation") {
  std::string many = R"({"gpu":[{"minor":0})";
  for (int i = 0; i < 1100; ++i) many += R"(,{"minor":1})";
  for (const std::string& wrong :
       {std::string("["), std::string("[]"), std::string(R"({"gpu":{}})"), std::string(R"({"gpu":[{}]})"),
        std::string(R"({"gpu":[{"minor":-1}]})"), std::string(R"({"gpu":[{"minor":1048576}]})"),
        std::string(R"({"gpu":[{"minor":"0"}]})"), std::string(R"({"gpu":[{"minor":0.5}]})"),
        std::string(R"({"gpu":[7]})"), std::string(R"({"gpu":[{"minor":0,"resources":{"a":"much"}}]})"),
        std::string(R"({"gpu":[{"minor":0,"extension":{"vfs":[{}]}}]})"),
        std::string(R"({"gpu":[{"minor":0,"extension":{"vfs":[{"busID":"../../etc"}]}}]})"), many + "]}"}) {
    CAPTURE(wrong.substr(0, 80));
    const auto devices = parse_allocation(wrong, "gpu");
    REQUIRE_FALSE(devices);
    CHECK(devices.error().message().starts_with("scheduling.koordinator.sh/device-allocated: "));
    CHECK(devices.error().message().size() < 300);
  }
}

TEST_CASE("a PCI address has a domain, a bus, a device and a function") {
  CHECK(is_pci_address("0000:3b:00.0"));
  CHECK(is_pci_address("FFFF:ff:1f.7"));
  for (const char* wrong :
       {"", "3b:00.0", "0000:3b:00.0 ", "0000:3b:00:0", "0000:3g:00.0", "..00:3b:00.0", "0000/3b:00.0"})
    CHECK_FALSE(is_pci_address(wrong));
}
