// SPDX-License-Identifier: Apache-2.0
// hook-batch-resource: sets CPU shares, CPU quota and memory limit of best-effort pods from their batch resources.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/hook-batch-resource/batch_resource.hpp"
#include "plugins/shared/sdk/if_known.hpp"

namespace {

using koord::batch::Amounts;
using koord::batch::Kind;
using koord::plugin::check;
using koord::plugin::if_known;
using koord::plugin::str;
using koord::plugin::Strided;
using koord::plugin::view;

Amounts amounts_of(const koord_container& container) {
  Amounts amounts;
  if (container.kind == KOORD_CONTAINER_INIT) amounts.kind = Kind::init;
  if (container.kind == KOORD_CONTAINER_SIDECAR) amounts.kind = Kind::sidecar;
  for (const koord_resource& resource :
       Strided(container.resources, container.n_resources, container.resource_stride)) {
    if (view(resource.name) == "kubernetes.io/batch-cpu") {
      amounts.cpu_request = if_known(resource.request);
      amounts.cpu_limit = if_known(resource.limit);
    } else if (view(resource.name) == "kubernetes.io/batch-memory") {
      amounts.memory_limit = if_known(resource.limit);
    }
  }
  return amounts;
}

bool is_of_spec(const koord_container& container) {
  return container.kind == KOORD_CONTAINER_REGULAR || container.kind == KOORD_CONTAINER_INIT ||
         container.kind == KOORD_CONTAINER_SIDECAR;
}

std::vector<Amounts> amounts_of(const koord_pod& pod) {
  std::vector<Amounts> amounts;
  for (const koord_container& container : Strided(pod.containers, pod.n_containers, pod.container_stride))
    if (is_of_spec(container)) amounts.push_back(amounts_of(container));
  return amounts;
}

class BatchResource final : public koord::plugin::RuntimeHook {
 public:
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (request.pod->qos != KOORD_QOS_BE) return;
    const auto limits = request.container != nullptr ? koord::batch::limits_of(amounts_of(*request.container))
                                                     : koord::batch::limits_of(amounts_of(*request.pod));
    if (!limits) return;
    set(response, "linux.cpu.shares", limits->shares);
    set(response, "linux.cpu.quota", limits->quota);
    set(response, "linux.memory.limit", limits->memory);
  }

 private:
  static void set(const koord_hook_response& response, std::string_view field, std::int64_t value) {
    check(response.set(&response, str(field), str(std::to_string(value))), field);
  }
};

}  // namespace

KOORD_PLUGIN("id=hook-batch-resource\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=BatchResource\n"
             "stage=alpha\n"
             "license=Apache-2.0\n"
             "description=CPU and memory limits of best-effort pods from their batch resources\n",
             koord::plugin::runtime_hook<BatchResource, KOORD_STAGE_PRE_RUN_POD_SANDBOX |
                                                            KOORD_STAGE_PRE_CREATE_CONTAINER>("batch-resource"))
