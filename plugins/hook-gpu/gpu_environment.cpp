// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-gpu/gpu_environment.hpp"

namespace koord::hook_gpu {
namespace {

constexpr std::string_view kMemoryRatio = "koordinator.sh/gpu-memory-ratio", kMemory = "koordinator.sh/gpu-memory",
                           kCore = "koordinator.sh/gpu-core";
constexpr std::int64_t kWhole = 100;  // percent of a GPU

Result<std::int64_t> amount_of(const device::Device& gpu, std::string_view resource) {
  const auto found = gpu.resources.find(resource);
  if (found != gpu.resources.end() && found->second > 0) return found->second;
  return invalid("GPU " + std::to_string(gpu.minor) + " has no amount of " + std::string(resource));
}

// Adds the variables with HAMi-core's limits. The library must be preloaded.
Result<void> add_limits(const device::Device& gpu, const Settings& settings, Fields& fields) {
  fields.emplace_back("env:CUDA_DEVICE_MEMORY_LIMIT", std::to_string(TRY(amount_of(gpu, kMemory))));
  fields.emplace_back("env:CUDA_DEVICE_SM_LIMIT", std::to_string(TRY(amount_of(gpu, kCore))));
  fields.emplace_back("env:LD_PRELOAD", settings.library);
  fields.emplace_back("mount:" + settings.library, settings.library);
  fields.emplace_back("mount:" + settings.lock_directory, settings.lock_directory);
  return {};
}

}  // namespace

Result<Fields> adjust(const std::vector<device::Device>& gpus, std::string_view provider, const Settings& settings) {
  Fields fields;
  if (gpus.empty()) return fields;
  std::string minors;
  for (const device::Device& gpu : gpus) minors += (minors.empty() ? "" : ",") + std::to_string(gpu.minor);
  fields.emplace_back("env:NVIDIA_VISIBLE_DEVICES", minors);
  if (provider == kHamiCore && TRY(amount_of(gpus.front(), kMemoryRatio)) < kWhole)
    TRY(add_limits(gpus.front(), settings, fields));
  return fields;
}

}  // namespace koord::hook_gpu
