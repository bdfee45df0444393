// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/baseline_record.hpp"

#include <cmath>
#include <utility>

#include "core/analysis/baseline.hpp"
#include "core/analysis/saved_records.hpp"

namespace koord::analysis {
namespace {

std::string_view name_of(BaselineOf resource) { return resource == BaselineOf::cpu ? "cpu" : "memory"; }

// Rounds to three digits. So a record with all buckets has less than 2 KiB.
double rounded(double value) {
  if (value <= 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::round(value / unit) * unit;
}

std::string baseline_line(const SavedBaseline& saved, BaselineOf resource) {
  RecordWriter record;
  record << name_of(resource) << saved.workload << saved.seen << std::uint64_t{saved.windows}
         << std::uint64_t{saved.weights.size()};
  for (const auto& [bucket, weight] : saved.weights) record << std::uint64_t{bucket} << float(rounded(weight));
  record << std::uint64_t{saved.quiet.size()};
  for (const auto& [suspect, level] : saved.quiet) record << suspect << float(rounded(level));
  return record.line(kBaselineVersion);
}

Result<SavedBaseline> read_baseline(std::string_view line, BaselineOf resource) {
  FieldReader fields(TRY(open_record(kBaselineVersion, line)));
  if (TRY(fields.text()) != name_of(resource)) return invalid("it is no baseline of " + std::string(name_of(resource)));
  SavedBaseline saved;
  saved.workload = TRY(fields.text());
  saved.seen = TRY(fields.time());
  saved.windows = TRY(fields.count(kMostWindows));
  const std::size_t buckets = bucket_count(Baseline::kShares);
  saved.weights.resize(TRY(fields.count(buckets)));
  for (auto& [bucket, weight] : saved.weights) {
    bucket = TRY(fields.count(buckets - 1));
    weight = TRY(amount_up_to(fields, kMostWeight, "a weight"));
  }
  saved.quiet.resize(TRY(fields.count(kMaxQuietSuspects)));
  for (auto& [suspect, level] : saved.quiet) {
    suspect = TRY(fields.text());
    level = TRY(amount_up_to(fields, Baseline::kShares.largest, "a quiet level"));
  }
  if (!can_be_a_field(saved.workload) || !fields.at_end()) return invalid("its fields do not fit together");
  return saved;
}

}  // namespace

std::string write_baselines(std::vector<SavedBaseline> baselines, std::size_t max_bytes, BaselineOf resource) {
  for (SavedBaseline& saved : baselines)
    std::erase_if(saved.quiet, [](const auto& one) { return !can_be_a_field(one.first); });
  return write_newest(std::move(baselines), max_bytes,
                      [resource](const SavedBaseline& saved) { return baseline_line(saved, resource); });
}

ReadBaselines read_baselines(std::string_view text, BaselineOf resource) {
  ReadBaselines read;
  read.problems = read_each(text, read.baselines, read.unread,
                            [resource](std::string_view line) { return read_baseline(line, resource); });
  return read;
}

}  // namespace koord::analysis
