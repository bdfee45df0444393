// SPDX-License-Identifier: Apache-2.0
// hook-rdma: gives a container the device nodes of the RDMA devices that the scheduler allocated to its pod.
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/hook-rdma/rdma_nodes.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/value_file.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::plugin::check;
using koord::plugin::str;

class Rdma final : public koord::plugin::RuntimeHook {
 public:
  void init() override {
    sys_ = koord::node::roots_of(host()).sys;
    const bool is_supported = koord::node::exists(sys_ + "/class/misc/rdma_cm/dev");
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    capabilities->report(host(), str("rdma_device_nodes"),
                         is_supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                         str(is_supported ? "rdma_cm" : "the kernel module rdma_ucm is not loaded"));
  }

  // May run on several threads. If the devices that a container requests are unavailable, the container is refused.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const auto nodes = nodes_of(*request.pod);
    if (!nodes) {
      check(response.reject(&response, str(nodes.error().message())), "rejecting");
      return;
    }
    for (const koord::hook_rdma::DeviceNode& node : *nodes) {
      const auto [field, value] = koord::hook_rdma::field_of(node);
      check(response.set(&response, str(field), str(value)), field);
    }
  }

 private:
  koord::Result<std::vector<koord::hook_rdma::DeviceNode>> nodes_of(const koord_pod& pod) const {
    const auto devices = TRY(koord::device::parse_allocation(
        koord::slo::annotation_of(pod, koord::device::kAnnotation).value_or(""), "rdma"));
    return koord::hook_rdma::find_nodes(sys_, TRY(koord::hook_rdma::addresses_of(devices)));
  }

  std::string sys_;
};

}  // namespace

KOORD_PLUGIN("id=hook-rdma\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=RDMADeviceInject\n"
             "stage=alpha\n"
             "requires=koord.fs/1,koord.capabilities/1\n"
             "license=Apache-2.0\n"
             "description=RDMA devices of containers from the scheduler's allocation\n",
             koord::plugin::runtime_hook<Rdma, KOORD_STAGE_PRE_CREATE_CONTAINER>("rdma"))
