// SPDX-License-Identifier: Apache-2.0
// A kubelet's answer to /configz, and a Node, a NodeMetric and a claim of the API server.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/state/node_metric_spec.hpp"
#include "core/state/objects.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::state;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto config = parse_kubelet_config(text))
    for (const auto& reserved : config->kube_reserved) check(reserved.second >= 0);
  if (auto node = parse_node(text))
    check(!node->name.empty() && node->kubelet_port >= 0 && node->kubelet_port <= 65535);
  if (auto claim = parse_claim(text)) check(claim->key.find('/') != std::string::npos);
  if (auto metric = parse_node_metric_spec(text)) {
    check(metric->spec.aggregate >= std::chrono::minutes(1) && metric->spec.report >= std::chrono::seconds(30));
    for (Duration window : metric->spec.windows) check(window > Duration::zero());
  }
  return 0;
}
