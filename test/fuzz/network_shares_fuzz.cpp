// SPDX-License-Identifier: Apache-2.0
// A NodeSLO or a pod's annotation, with any content: the requested bandwidth is at most the total, and no limit is
// negative.
#include <cstdlib>
#include <string_view>

#include "plugins/hook-network/network_shares.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace koord::hook_network;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const PodFacts pod{"uid", "shop/web", "BE", text};
  if (const auto network = parse_network(text)) {
    if (network->ls.request + network->be.request > network->total) std::abort();
    const Plan planned = plan(*network, {pod});
    if (network->total == 0 && !planned.classes.empty()) std::abort();
  }
  const Network fixed{125'000'000, {true, 1000, 0}, {true, 1000, 0}, {}};
  const Adjustment adjustment = adjust(pod, fixed);
  if (!adjustment.classid || adjustment.egress_limit < 0) std::abort();
  if (adjustment.egress_limit > 0 && !adjustment.problem.empty()) std::abort();
  return 0;
}
