// SPDX-License-Identifier: Apache-2.0
// The usual cycles per instruction of workloads, as the store keeps them. Each line is read unchanged, and also as the
// rest of a record with a valid checksum. An accepted record must be readable after writing, and usable for verdicts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/analysis/cache_analysis.hpp"
#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

void judge_with(const std::vector<SavedCpi>& all) {
  const Time now = Time(24h * 20'000);
  CacheAnalysis analysis;
  analysis.restore(all, now);
  std::vector<CacheSubject> subjects;
  for (const SavedCpi& saved : all) {
    CacheWindow window{.subject = subjects.size() + 1, .is_counted = true, .usage = 1};
    window.cycles = window.instructions = 1e9;
    subjects.push_back({saved.workload, window});
  }
  for (int i = 0; i < 20; ++i) analysis.add(now + i * 5s, subjects);
  for (const SavedCpi& saved : analysis.save())
    if (!std::isfinite(saved.mean) || !std::isfinite(saved.deviation) || !std::isfinite(saved.weight)) std::abort();
}

void check(const ReadCpi& read) {
  const ReadCpi again = read_cpi(write_cpi(read.workloads, SIZE_MAX));
  if (!again.problems.empty() || again.workloads.size() != read.workloads.size()) std::abort();
  judge_with(read.workloads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(read_cpi(text));
  check(read_cpi(sealed_record(kCpiVersion, text.substr(0, text.find('\n')))));
  return 0;
}
