// SPDX-License-Identifier: Apache-2.0
// A cluster's settings of any content: each node gets a NodeSLO that the agent accepts without a problem. Rejected
// values are named and do not change the earlier values.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/state/slo.hpp"
#include "core/state/slo_settings.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::state;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  SloSettings settings;
  const std::string before = settings.spec_of({}, {}).spec;
  const auto problems = settings.take(text);
  for (const SettingsProblem& problem : problems) check(!problem.text.empty() && !text_of(problem).empty());
  if (problems.size() == 1 && problems[0].key.empty()) check(settings.spec_of({}, {}).spec == before);
  for (const StringMap& labels : {StringMap{}, StringMap{{"kind", "gpu"}, {"a", "b"}}}) {
    const auto made = settings.spec_of(labels, {{"node.koordinator.sh/network-bandwidth", text}});
    const Result<EffectiveSlo> effective = effective_slo(made.spec);
    check(effective && effective->problems.empty());
  }
  const std::string taken = settings.spec_of({}, {}).spec;
  (void)settings.take(text);
  check(settings.spec_of({}, {}).spec == taken);
  return 0;
}
