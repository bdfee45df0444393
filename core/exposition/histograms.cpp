// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/histograms.hpp"

#include <algorithm>
#include <cmath>

namespace koord::exposition {
namespace {

constexpr double kMaxCount = 9007199254740992.0;  // 2^53: a double represents every integer up to it

bool is_count(double value) { return value >= 0 && value <= kMaxCount && value == std::floor(value); }

}  // namespace

bool HistogramAssembly::is(const Group& group, std::uint32_t metric, std::span<const Label> labels) {
  if (group.metric != metric) return false;
  auto own = group.labels.begin();
  for (const Label& label : labels) {
    if (label.name == "le") continue;
    if (own == group.labels.end() || *own != label) return false;
    ++own;
  }
  return own == group.labels.end();
}

// Makes the key of a series, with labels sorted by name, because lines of one series may have the labels in a different
// order. The separator NUL does not occur in normal UTF-8 text.
void HistogramAssembly::make_key(std::string_view name, std::span<const Label> labels) {
  std::vector<Label> sorted;
  for (const Label& label : labels) {
    if (label.name != "le") sorted.push_back(label);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Label& a, const Label& b) { return a.name < b.name; });
  key_ = name;
  for (const Label& label : sorted) key_.append(1, '\0').append(label.name).append(1, '\0').append(label.value);
}

Result<Histogram> assembled(HistogramAssembly::Group& group) {
  auto& buckets = group.buckets;
  std::stable_sort(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!buckets.empty() && buckets.back().first == HUGE_VAL) {
    if (!group.count) group.count = buckets.back().second;
    buckets.pop_back();
  }
  if (std::any_of(buckets.begin(), buckets.end(), [](const auto& bucket) { return std::isinf(bucket.first); }))
    return invalid("found an infinite bound beside '+Inf', expected finite ones");
  if (!group.count) return invalid("found neither a bucket '+Inf' nor a '_count', expected one");
  Histogram histogram{.bounds = {}, .cumulative = {}, .sum = group.sum};
  buckets.emplace_back(HUGE_VAL, *group.count);
  for (const auto& [bound, count] : buckets) {
    if (!is_count(count)) return invalid("found a bucket of " + std::to_string(count) + ", expected a whole number");
    auto whole = static_cast<std::uint64_t>(count);
    if (!histogram.cumulative.empty() && whole < histogram.cumulative.back())
      return invalid("found a bucket that counts less than the one below it, expected cumulative counts");
    if (!histogram.bounds.empty() && histogram.bounds.back() == bound)
      return invalid("found two buckets of one bound, expected one");
    histogram.cumulative.push_back(whole);
    if (bound != HUGE_VAL) histogram.bounds.push_back(bound);
  }
  return histogram;
}

}  // namespace koord::exposition
