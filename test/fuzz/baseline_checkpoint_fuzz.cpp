// SPDX-License-Identifier: Apache-2.0
// An object InterferenceMetricCheckpoint of any content. An accepted object must be readable after writing, valid for
// the plugin, and usable for verdicts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/analysis/cpu_analysis.hpp"
#include "core/state/baseline_checkpoint.hpp"

using namespace koord;
using namespace koord::state;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<BaselineCheckpoint> read = parse_checkpoint({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  if (!parse_checkpoint(checkpoint_object(*read))) std::abort();
  (void)differs_materially(*read, {});
  const Time now(std::chrono::hours(24 * 20'000));
  analysis::SavedBaseline offered = read->cpu;
  offered.seen = now;
  const analysis::ReadBaselines passed_on = analysis::read_baselines(analysis::write_baselines({offered}));
  if (!passed_on.problems.empty()) std::abort();
  analysis::CpuAnalysis judge;
  judge.adopt(passed_on.baselines, now);
  for (const analysis::SavedBaseline& saved : judge.save(now))
    for (const auto& one : saved.weights)
      if (!std::isfinite(one.second)) std::abort();
  return 0;
}
