// SPDX-License-Identifier: Apache-2.0
// Baselines of workloads, as the store keeps them. Each line is read unchanged, and also as the rest of a record with a
// valid checksum, because the fuzzer would not find a valid checksum itself. An accepted record must be readable after
// writing, and usable for verdicts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/analysis/cpu_analysis.hpp"
#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

void judge_with(const std::vector<SavedBaseline>& baselines) {
  const Time now = Time(24h * 20'000);
  CpuAnalysis analysis;
  analysis.restore(baselines, now);
  std::vector<CpuSubject> subjects;
  for (const SavedBaseline& saved : baselines) {
    CpuWindow window{.subject = subjects.size() + 1, .run = 0.2, .wait = 0.05, .usable_cpus = 2, .held_up = 0.05};
    window.others = {{SuspectKind::kernel, 0, 0.05, 0}};
    subjects.push_back({saved.workload, window});
  }
  for (int second = 0; second < 5; ++second) analysis.add(now + second * 1s, subjects);
  for (const Verdict& verdict : analysis.standing())
    if (!std::isfinite(verdict.statistic.baseline) || !std::isfinite(verdict.suspects.at(0).quiet)) std::abort();
  for (const SavedBaseline& saved : analysis.save(now))
    for (const auto& one : saved.weights)
      if (!std::isfinite(one.second)) std::abort();
}

void check(const ReadBaselines& read) {
  const ReadBaselines again = read_baselines(write_baselines(read.baselines, SIZE_MAX));
  if (!again.problems.empty() || again.baselines.size() != read.baselines.size()) std::abort();
  judge_with(read.baselines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(read_baselines(text));
  check(read_baselines(sealed_record(kBaselineVersion, text.substr(0, text.find('\n')))));
  return 0;
}
