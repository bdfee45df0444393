// SPDX-License-Identifier: Apache-2.0
// Computes environment and mounts of a container with GPUs from the scheduler. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/device/device_allocation.hpp"

namespace koord::hook_gpu {

inline constexpr std::string_view kProviderLabel = "koordinator.sh/gpu-isolation-provider";  // label of a pod
inline constexpr std::string_view kHamiCore = "HAMi-core";

struct Settings {
  std::string library = "/usr/local/vgpu/libvgpu.so";  // HAMi-core's library, on the node and in the container
  std::string lock_directory = "/tmp/vgpulock";        // shared by all containers that use HAMi-core
};

// Fields of a hook's response with their values.
using Fields = std::vector<std::pair<std::string, std::string>>;

// Returns no fields for a pod without GPUs. Fails if the scheduler allocated a part of a GPU without amounts.
Result<Fields> adjust(const std::vector<device::Device>& gpus, std::string_view provider, const Settings& settings);

}  // namespace koord::hook_gpu
