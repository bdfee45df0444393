// SPDX-License-Identifier: Apache-2.0
// The memory of ScrapedMetrics: its maps, and the vectors that it reuses in the next scrape.
#include <algorithm>

#include "core/scrape/scraped_metrics.hpp"

namespace koord::scrape {
namespace {

// The overhead of a map's element: pointers, hash, padding of the allocator.
constexpr std::size_t kNodeBytes = 64;

}  // namespace

std::size_t ScrapedMetrics::bytes_of_metric(std::string_view name, std::string_view refusal) {
  return kNodeBytes + sizeof(Known) + name.size() + refusal.size();
}

std::size_t ScrapedMetrics::bytes_of_change(const SeriesChange& change) {
  std::size_t bytes = 2 * change.labels.size() * sizeof change.labels[0];
  for (const auto& [name, value] : change.labels) bytes += name.size() + value.size();
  return bytes;
}

std::size_t ScrapedMetrics::bytes_of_series(std::string_view series, const SeriesChange& change) {
  return kNodeBytes + sizeof(Live) + series.size() + bytes_of_change(change);
}

// Removes the new series of a failed scrape, because they are not in the registry, and must not count as known.
void ScrapedMetrics::forget_new_series() {
  for (auto& [name, known] : metrics_)
    std::erase_if(known.series, [](const auto& entry) { return entry.second.id == 0; });
}

// Counts the memory again. The share has grown before each added element, but was not reduced for removed elements.
void ScrapedMetrics::count_held() {
  std::size_t bytes = 0;
  for (const auto& [name, known] : metrics_) {
    bytes += bytes_of_metric(name, known.refusal);
    for (const auto& [series, live] : known.series) bytes += bytes_of_series(series, live.change);
  }
  held_.shrink(held_.bytes() - std::min<std::uint64_t>(bytes, held_.bytes()));
}

void ScrapedMetrics::release_working_memory() {
  by_index_ = {};
  picked_ = {};
  labels_ = {};
  asked_ = {};
  points_ = {};
  histograms_ = {};
}

}  // namespace koord::scrape
