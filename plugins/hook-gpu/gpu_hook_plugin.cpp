// SPDX-License-Identifier: Apache-2.0
// hook-gpu: lets a container see only the GPUs that the scheduler allocated to its pod, and limits it to its part of a
// GPU.
#include <string>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "plugins/hook-gpu/gpu_environment.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::plugin::check;
using koord::plugin::str;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "library": {"type": "string", "minLength": 2,
                "description": "path of HAMi-core's library, on the node and in containers; default: /usr/local/vgpu/libvgpu.so"},
    "lockDirectory": {"type": "string", "minLength": 2,
                      "description": "directory of HAMi-core's locks, on the node and in containers; default: /tmp/vgpulock"}
  }})";

class Gpu final : public koord::plugin::RuntimeHook {
 public:
  void init() override {
    const koord::plugin::Config config(host());
    settings_.library = config.string("/library").value_or(settings_.library);
    settings_.lock_directory = config.string("/lockDirectory").value_or(settings_.lock_directory);
  }

  // May run on several threads. Without this environment a container would see all GPUs, so it is refused on an error.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const koord_pod& pod = *request.pod;
    const auto gpus =
        koord::device::parse_allocation(koord::slo::annotation_of(pod, koord::device::kAnnotation).value_or(""), "gpu");
    if (!gpus) return reject(response, gpus.error().message());
    const auto fields = koord::hook_gpu::adjust(
        *gpus, koord::slo::label_of(pod, koord::hook_gpu::kProviderLabel).value_or(""), settings_);
    if (!fields) return reject(response, fields.error().message());
    for (const auto& [field, value] : *fields) check(response.set(&response, str(field), str(value)), field);
  }

 private:
  static void reject(const koord_hook_response& response, const std::string& why) {
    check(response.reject(&response, str(why)), "rejecting");
  }

  koord::hook_gpu::Settings settings_;
};

}  // namespace

KOORD_PLUGIN("id=hook-gpu\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=GPUEnvInject\n"
             "stage=alpha\n"
             "requires=koord.config/1\n"
             "license=Apache-2.0\n"
             "description=GPUs of containers from the scheduler's allocation\n",
             koord::plugin::runtime_hook<Gpu, KOORD_STAGE_PRE_CREATE_CONTAINER>("gpu", 0, kConfigSchema))
