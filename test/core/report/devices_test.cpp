// SPDX-License-Identifier: Apache-2.0
#include "core/report/devices.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

using namespace koord;
using namespace koord::report;
namespace json = boost::json;

namespace {

constexpr const char* kGpus =
    R"([{"id":"GPU-b","minor":1,"memory-total":17179869184,"nodeID":1,"pcie":"pci0000:3a","busID":"0000:3b:00.0","status":{"healthy":false,"errCode":"15","errMessage":"lost"}},)"
    R"({"id":"GPU-a","minor":0,"memory-total":17179869184,"nodeID":-1,"pcie":"","busID":"0000:1b:00.0","status":{"healthy":true}}])";
constexpr const char* kRdma =
    R"([{"id":"0000:5e:00.0","netDev":"eth2","rdmaResources":["mlx5_0"],"vfEnabled":true,"vfMap":{"0000:5e:00.3":{"id":"0000:5e:00.3"},"0000:5e:00.2":{"id":"0000:5e:00.2"}},)"
    R"("minor":0,"vendorCode":"15b3","deviceCode":"1017","nodeID":0,"pcie":"pci0000:5d","busID":"0000:5e:00.0","health":true}])";

Devices both() { return {*parse_gpu_fact(kGpus), *parse_rdma_fact(kRdma)}; }

std::string fresh() {
  state::Node node;
  node.name = "a";
  node.uid = "node-uid";
  return new_device_object(node);
}
std::string written(const Devices& devices, const std::string& over, std::int64_t now = 1'790'000'000) {
  Result<std::optional<std::string>> merged = merge_devices(devices, over, now);
  REQUIRE_MESSAGE(merged, merged.error().message());
  return merged->value_or("");
}
std::string at(const std::string& object, const char* pointer) {
  return json::serialize(json::parse(object).at_pointer(pointer));
}

}  // namespace

TEST_CASE("devices stand by type, then minor, with what the scheduler may hand out of them") {
  const std::string object = written(both(), fresh());
  CHECK(
      at(object, "/spec/devices/0") ==
      R"({"type":"gpu","id":"GPU-a","health":true,"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"16Gi",)"
      R"("koordinator.sh/gpu-memory-ratio":"100"},"topology":{"socketID":-1,"nodeID":-1,"pcieID":"","busID":"0000:1b:00.0"}})");
  CHECK(at(object, "/spec/devices/1/id") == "\"GPU-b\"");
  CHECK(at(object, "/spec/devices/2") ==
        R"({"type":"rdma","id":"0000:5e:00.0","health":true,"minor":0,"resources":{"koordinator.sh/rdma":"100"},)"
        R"("topology":{"socketID":-1,"nodeID":0,"pcieID":"pci0000:5d","busID":"0000:5e:00.0"},)"
        R"("vfGroups":[{"vfs":[{"minor":-1,"busID":"0000:5e:00.2"},{"minor":-1,"busID":"0000:5e:00.3"}]}]})");
  CHECK(at(object, "/metadata/labels") == R"({"node.koordinator.sh/gpu-vendor":"nvidia"})");
}

TEST_CASE("a device that the driver reports broken says why and since when") {
  const std::string object = written(both(), fresh());
  CHECK(at(object, "/spec/devices/1/health") == "false");
  CHECK(
      at(object, "/spec/devices/1/conditions") ==
      R"([{"type":"Healthy","status":"False","reason":"NVMLError15","message":"lost","lastTransitionTime":"2026-09-21T14:13:20Z"}])");
  CHECK(written(both(), object, 1'790'000'600).empty());  // the time of the change stays, too

  Devices other = both();
  other.gpus->front().fault->reason = "79";
  CHECK(at(written(other, object, 1'790'000'600), "/spec/devices/1/conditions/0/lastTransitionTime") ==
        "\"2026-09-21T14:23:20Z\"");
}

TEST_CASE("the reason of a condition is a word that begins with a letter, whatever the advisor reports") {
  const auto reason = [](const std::string& code) {
    return parse_gpu_fact(R"([{"id":"GPU-a","memory-total":1024,"status":{"healthy":false,"errCode":")" + code +
                          R"("}}])")
        ->at(0)
        .fault->reason;
  };
  CHECK(reason("NVMLError15") == "NVMLError15");
  CHECK(reason("15") == "NVMLError15");
  CHECK(reason("") == "Unknown");
  CHECK(reason("-5") == "Error__5");
  CHECK(reason("XID 79.") == "XID_79_");
  CHECK(reason(std::string(2000, '7')).size() <= 1024);
}

TEST_CASE("an object that says all of this already is not written") {
  CHECK(written(both(), written(both(), fresh())).empty());
  CHECK(written({std::vector<Device>(), std::vector<Device>()}, fresh()).empty());
}

TEST_CASE("devices of unknown kinds are not changed, and devices of other kinds stay") {
  json::value object = json::parse(written(both(), fresh()));
  object.at_pointer("/spec/devices").as_array().push_back({{"type", "fpga"}, {"id", "F"}});
  const std::string before = json::serialize(object);
  const std::string after = written({std::nullopt, std::vector<Device>()}, before);
  CHECK(at(after, "/spec/devices/0/type") == "\"fpga\"");
  CHECK(at(after, "/spec/devices/2/type") == "\"gpu\"");
  CHECK(json::parse(after).at_pointer("/spec/devices").as_array().size() == 3);
}

TEST_CASE("a device without a number has none in the object") {
  const std::vector<Device> devices = *parse_rdma_fact(R"([{"id":"0000:5e:00.0","minor":-1}])");
  CHECK_FALSE(devices.at(0).minor);
  CHECK_FALSE(json::parse(written({std::nullopt, devices}, fresh()))
                  .at_pointer("/spec/devices/0")
                  .as_object()
                  .contains("minor"));
}

TEST_CASE("errors in a fact are named") {
  CHECK(parse_gpu_fact("{}").error().text == "GPU: expected a list");
  CHECK(parse_gpu_fact("[],\"x\":1").error().text == "GPU: expected a list");
  CHECK(parse_gpu_fact("[7]").error().text == "GPU: expected objects");
  CHECK(parse_gpu_fact(R"([{"minor":0}])").error().text == "GPU: id: expected a text");
  CHECK(parse_gpu_fact(R"([{"id":"GPU-a","memory-total":"many"}])").error().text ==
        "GPU: memory-total: expected bytes");
  CHECK(parse_rdma_fact("").error().text.starts_with("RDMA: not JSON"));
}
