// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/hook-gpu/gpu_environment.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::hook_gpu;
using koord::device::Device;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

Device gpu(std::int64_t minor, std::int64_t ratio, std::int64_t memory = 8, std::int64_t core = 50) {
  Device device;
  device.minor = minor;
  device.resources = {{"koordinator.sh/gpu-memory-ratio", ratio},
                      {"koordinator.sh/gpu-memory", memory},
                      {"koordinator.sh/gpu-core", core}};
  return device;
}

const Fields kPart = {{"env:NVIDIA_VISIBLE_DEVICES", "1"},
                      {"env:CUDA_DEVICE_MEMORY_LIMIT", "8"},
                      {"env:CUDA_DEVICE_SM_LIMIT", "50"},
                      {"env:LD_PRELOAD", "/usr/local/vgpu/libvgpu.so"},
                      {"mount:/usr/local/vgpu/libvgpu.so", "/usr/local/vgpu/libvgpu.so"},
                      {"mount:/tmp/vgpulock", "/tmp/vgpulock"}};

}  // namespace

// Same cases as in koordlet.
TEST_CASE("a container sees the GPUs of its pod; HAMi-core limits it to a part of one") {
  CHECK(*adjust({}, kHamiCore, {}) == Fields{});
  CHECK(*adjust({gpu(0, 100), gpu(3, 100)}, "", {}) == Fields{{"env:NVIDIA_VISIBLE_DEVICES", "0,3"}});
  CHECK(*adjust({gpu(1, 50)}, "", {}) == Fields{{"env:NVIDIA_VISIBLE_DEVICES", "1"}});
  CHECK(*adjust({gpu(1, 100)}, kHamiCore, {}) == Fields{{"env:NVIDIA_VISIBLE_DEVICES", "1"}});
  CHECK(*adjust({gpu(1, 50)}, kHamiCore, {}) == kPart);
}

TEST_CASE("a part of a GPU without amounts is an error that names the GPU and the resource") {
  CHECK(adjust({Device{}}, "", {}));
  CHECK(adjust({Device{}}, kHamiCore, {}).error().message() ==
        "GPU 0 has no amount of koordinator.sh/gpu-memory-ratio");
  CHECK(adjust({gpu(2, 50, 0)}, kHamiCore, {}).error().message() == "GPU 2 has no amount of koordinator.sh/gpu-memory");
  CHECK(adjust({gpu(2, 50, 1, -1)}, kHamiCore, {}).error().message() ==
        "GPU 2 has no amount of koordinator.sh/gpu-core");
}

TEST_CASE("the hook answers for containers with GPUs, and refuses one with an unreadable allocation") {
  const FakeNode node;
  FakeHost host(node, R"({"lockDirectory": "/run/vgpulock"})");
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  Pod pod;
  pod.containers.emplace_back();
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
  pod.labels = {{std::string(kProviderLabel), std::string(kHamiCore)}};
  const auto allocate = [&](const std::string& gpus) {
    pod.annotations = {{std::string(koord::device::kAnnotation), R"({"gpu":)" + gpus + "}"}};
    return hook.handle(pod, &pod.containers[0]);
  };
  const auto part = allocate(R"([{"minor":1,"resources":{"koordinator.sh/gpu-memory-ratio":"50",
    "koordinator.sh/gpu-memory":"8Gi","koordinator.sh/gpu-core":"50"}}])");
  REQUIRE(part.fields.size() == 6);
  CHECK(part.fields[1] == std::pair<std::string, std::string>("env:CUDA_DEVICE_MEMORY_LIMIT", "8589934592"));
  CHECK(part.fields[5] == std::pair<std::string, std::string>("mount:/run/vgpulock", "/run/vgpulock"));
  for (const char* hostile : {"[{}]", "7", R"([{"minor":-1}])",
                              R"([{"minor":0,"resources":{"koordinator.sh/gpu-core":"x"}}])", R"([{"minor":0}])"}) {
    CAPTURE(hostile);
    const auto answer = allocate(hostile);
    CHECK(answer.fields.empty());
    CHECK(answer.rejection.value_or("").size() > 10);
  }
}
