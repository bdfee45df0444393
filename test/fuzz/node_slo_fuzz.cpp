// SPDX-License-Identifier: Apache-2.0
// A NodeSLO of any content: the effective part is valid and stays the same when it is read again, and every rejected
// value is reported. Explanations must not fail if the same text is used for the cluster's settings and a pod's
// annotations.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/state/slo.hpp"
#include "core/state/slo_explain.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::state;

namespace {

void check_explained(const std::string& received, const std::string& text) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->received_slo = std::make_shared<const std::string>(received);
  snapshot->cluster_slo = std::make_shared<const std::string>(text);
  Pod pod;
  pod.koord_qos = KoordQos::ls;
  pod.labels["koordinator.sh/qosClass"] = "LS";
  for (const char* key : {"cpuBurst", "memoryQOS", "blkioQOS", "cpuQOS", "networkQOS"})
    pod.annotations["koordinator.sh/" + std::string(key)] = text;
  const Result<SloExplainer> explainer = SloExplainer::make(snapshot);
  check(explainer.has_value());
  for (const SloLeaf& leaf : slo_leaves()) {
    const SloExplanation found = explainer->explain(leaf, &pod);
    check(found.layers.size() >= 4);
    check((found.winner == SloOrigin::none) == found.value.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)find_slo_field(text);
  const Result<Update> update = slo_update(text);
  if (!update) return 0;
  const Result<EffectiveSlo> once = effective_slo(*update->received_slo);
  check(once && once->spec == *update->node_slo);
  for (const SloProblem& problem : once->problems)
    check(!problem.path.empty() && !problem.found.empty() && !problem.expected.empty());
  const Result<EffectiveSlo> twice = effective_slo(once->spec);
  check(twice && twice->problems.empty() && twice->spec == once->spec);
  check_explained(*update->received_slo, text);
  return 0;
}
