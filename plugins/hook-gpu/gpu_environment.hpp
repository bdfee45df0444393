// SPDX-License-Identifier: Apache-2.0
// Environment and mounts of a container with GPUs from the scheduler. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/device/device_allocation.hpp"

namespace koord::hook_gpu {

inline constexpr std::string_view kProviderLabel = "koordinator.sh/gpu-isolation-provider";  // of a pod
inline constexpr std::string_view kHamiCore = "HAMi-core";

struct Settings {
  std::string library = "/usr/local/vgpu/libvgpu.so";  // HAMi-core's, on the node and in the container
  std::string lock_directory = "/tmp/vgpulock";        // shared by all containers that use HAMi-core
};

// Fields of a hook's response with their values.
using Fields = std::vector<std::pair<std::string, std::string>>;

// None for a pod without GPUs. An error: the scheduler gave a part of a GPU without saying how much.
Result<Fields> adjust(const std::vector<device::Device>& gpus, std::string_view provider, const Settings& settings);

}  // namespace koord::hook_gpu
