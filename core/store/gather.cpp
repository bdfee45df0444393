// SPDX-License-Identifier: Apache-2.0
#include "core/store/gather.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace koord::store {
namespace {

// The number of series that are collected together. They are the series of two groups, because most chunks contain the
// series of one group. Series with many samples are collected in smaller numbers, to limit memory.
constexpr std::size_t kSeriesAtOnce = 64;
constexpr std::size_t kSamplesAtOnce = 256 << 10;

std::size_t series_at_once(std::size_t samples_each) {
  return std::clamp<std::size_t>(kSamplesAtOnce / std::max<std::size_t>(samples_each, 1), 1, kSeriesAtOnce);
}

// Returns the assumed number of samples, before any series was read: one sample per second.
std::size_t seconds_of(const Span& span) {
  return static_cast<std::size_t>(std::max<std::int64_t>(span.to_ms / 1000 - span.from_ms / 1000, 0));
}

void append(Collected& to, std::int64_t time_ms, std::int64_t value, bool keep_time) {
  if (to.values.empty()) to.first_ms = time_ms;
  to.last_ms = time_ms;
  to.values.push_back(value);
  if (keep_time) to.times_ms.push_back(time_ms);
}

// Removes the samples but keeps the memory, for the next series.
void clear(Collected& collected) {
  collected.values.clear();
  collected.times_ms.clear();
}

void append_all(Collected& to, const Collected& from) {
  if (from.values.empty()) return;
  if (to.values.empty()) to.first_ms = from.first_ms;
  to.last_ms = from.last_ms;
  to.times_ms.insert(to.times_ms.end(), from.times_ms.begin(), from.times_ms.end());
  if (to.resolution == from.resolution) {
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    return;
  }
  for (std::int64_t value : from.values)
    to.values.push_back(std::llround(from_units(value, from.resolution) / to.resolution));
}

}  // namespace

void Gatherer::Part::begin(SeriesId series) {
  id = series;
  resolution = 1;
  clear(on_disk);
  clear(in_memory);
}

std::vector<Gatherer::Target> Gatherer::targets(const std::string& metric, const Labels& match) {
  std::lock_guard lock(state_.mutex);
  const Catalogue& catalogue = state_.head.catalogue();
  std::vector<Target> targets;
  std::map<std::string_view, std::size_t> by_labels;
  const bool may_repeat = catalogue.definitions(metric) > 1;  // within a definition labels are unique
  for (SeriesId id : catalogue.match(metric, match)) {
    const Identity& identity = *catalogue.find(id);
    const std::size_t at =
        may_repeat ? by_labels.try_emplace(identity.labels(), targets.size()).first->second : targets.size();
    if (at == targets.size()) targets.push_back({keep_.labels ? identity.labels() : std::string(), {}});
    Target& target = targets[at];
    target.series.push_back(id);
    if (identity.column && !identity.column->ended) target.tag = identity.column->tag;
  }
  return targets;
}

void Gatherer::for_each(const std::string& metric, const Labels& match, const Visit& visit) {
  std::vector<Target> all = targets(metric, match);
  std::vector<Part> parts;
  std::size_t longest = 0;
  for (std::size_t begin = 0, count = 0; begin < all.size(); begin += count) {
    std::span<Target> some(all.data() + begin,
                           std::min(series_at_once(begin == 0 ? seconds_of(span_) : longest), all.size() - begin));
    std::size_t n = 0;
    for (const Target& target : some)
      for (SeriesId id : target.series) {
        if (n == parts.size()) parts.emplace_back();
        parts[n++].begin(id);
      }
    std::span<Part> rest(parts.data(), n);
    rest = rest.first(gather(rest, some[0].series.size()));
    count = 0;
    for (const Target& target : some) {
      if (rest.size() < target.series.size()) break;  // it is read together with the next series
      ++count;
      Collected& collected = merged(rest.first(target.series.size()));
      rest = rest.subspan(target.series.size());
      longest = std::max(longest, collected.values.size());
      if (!collected.values.empty() && !visit(target, collected)) return;
    }
  }
}

bool Gatherer::one(std::uint32_t index, Collected& collected) {
  SeriesId id;
  {
    std::lock_guard lock(state_.mutex);
    const Column* column = state_.head.live(index);
    if (!column) return false;
    collected.resolution = state_.head.catalogue().metric_of(column->lane->metric()).resolution;
    if (column->lane->memory_from_ms(*column) <= span_.from_ms) {
      take_from_memory(*column, collected);
      return !collected.values.empty();
    }
    id = column->id;
  }
  Part part;
  part.begin(id);
  gather(std::span(&part, 1), 1);
  collected = std::move(merged(std::span(&part, 1)));
  return !collected.values.empty();
}

void Gatherer::take_from_memory(const Column& column, Collected& collected) const {
  const Lane::Rows rows = column.lane->rows_between(column, span_.from_ms, span_.to_ms);
  collected.values.reserve(rows.count());
  column.lane->each(column, rows, [&](std::int64_t time_ms, std::int64_t value) {
    if (value != kMissing) append(collected, time_ms, value, keep_.times);
  });
}

void Gatherer::find_in_memory(std::span<Part> parts, std::vector<ChunkRef>& refs, std::vector<SealedChunkPtr>& sealed) {
  std::lock_guard lock(state_.mutex);
  std::map<MetricId, Span> metrics;  // the lowest and highest of the metric's series
  for (Part& part : parts) {
    const Identity* identity = state_.head.catalogue().find(part.id);
    part.disk_until_ms = std::numeric_limits<std::int64_t>::min();
    if (!identity) continue;  // it was removed a moment ago
    part.metric = identity->metric;
    part.resolution = state_.head.catalogue().metric_of(identity->metric).resolution;
    part.disk_until_ms = span_.to_ms;
    if (const Column* column = identity->column) {
      take_from_memory(*column, part.in_memory);
      part.disk_until_ms = std::min(span_.to_ms, column->lane->memory_from_ms(*column) - 1);
    }
    if (part.disk_until_ms < span_.from_ms) continue;
    Span& series = metrics.try_emplace(part.metric, Span{part.id, part.id}).first->second;
    series = {std::min<std::int64_t>(series.from_ms, part.id), std::max<std::int64_t>(series.to_ms, part.id)};
  }
  for (const auto& [metric, series] : metrics) {
    auto lowest = static_cast<SeriesId>(series.from_ms), highest = static_cast<SeriesId>(series.to_ms);
    auto found = state_.chunks.find(metric, lowest, highest, span_.from_ms, span_.to_ms);
    refs.insert(refs.end(), found.begin(), found.end());
    for (const SealedChunkPtr& chunk : state_.pending.all()) {
      if (chunk->metric == metric && chunk->place.overlaps(span_.from_ms, span_.to_ms)) sealed.push_back(chunk);
    }
  }
}

// Drops the last parts if too many samples were read. Series differ in length, so this is only known afterwards.
void Gatherer::drop_last(std::span<Part>& parts, std::size_t least) {
  std::size_t samples = 0;
  for (const Part& part : parts) samples += part.samples();
  {
    std::lock_guard lock(state_.mutex);
    state_.stats.most_gathered = std::max<std::uint64_t>(state_.stats.most_gathered, samples);
  }
  for (; samples > kSamplesAtOnce && parts.size() > least; parts = parts.first(parts.size() - 1)) {
    samples -= parts.back().samples();
    parts.back() = Part();
  }
}

std::size_t Gatherer::gather(std::span<Part> parts, std::size_t least) {
  std::vector<ChunkRef> refs;
  std::vector<SealedChunkPtr> sealed;
  find_in_memory(parts, refs, sealed);
  drop_last(parts, least);
  std::vector<std::int64_t> rowids;
  for (const ChunkRef& ref : refs) {
    bool wanted = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
      return ref.may_hold(part.id) && ref.overlaps(span_.from_ms, part.disk_until_ms);
    });
    if (wanted) rowids.push_back(ref.rowid);
  }
  const auto take_chunk = [&](std::string_view bytes) {
    read_chunk(bytes, parts);
    drop_last(parts, least);
  };
  Result<void> read = source_.read(rowids, take_chunk);
  for (const SealedChunkPtr& chunk : sealed) take_chunk(chunk->bytes);
  if (read) return parts.size();
  std::lock_guard lock(state_.mutex);
  ++state_.stats.read_errors;
  return parts.size();
}

void Gatherer::read_chunk(std::string_view bytes, std::span<Part> parts) {
  std::optional<ChunkReader> chunk = ChunkReader::open(bytes);
  if (!chunk) return;
  for (Part& part : parts) {
    const std::vector<SeriesId>& ids = chunk->series();
    auto at = std::lower_bound(ids.begin(), ids.end(), part.id);
    if (at == ids.end() || *at != part.id || part.disk_until_ms < chunk->times_ms().front()) continue;
    if (chunk->read(static_cast<std::size_t>(at - ids.begin()), scratch_)) take(chunk->times_ms(), scratch_, part);
  }
}

void Gatherer::take(const std::vector<std::int64_t>& times_ms, const std::vector<std::int64_t>& values,
                    Part& part) const {
  auto begin = std::lower_bound(times_ms.begin(), times_ms.end(), span_.from_ms) - times_ms.begin();
  auto end = std::upper_bound(times_ms.begin(), times_ms.end(), part.disk_until_ms) - times_ms.begin();
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
    if (values[i] != kMissing) append(part.on_disk, times_ms[i], values[i], keep_.times);
}

Collected& Gatherer::merged(std::span<Part> parts) {
  for (Part& part : parts) part.on_disk.resolution = part.in_memory.resolution = part.resolution;
  if (parts.size() == 1 && parts[0].on_disk.values.empty()) return parts[0].in_memory;
  Collected& all = merged_;
  clear(all);
  all.resolution = std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
                     return a.resolution < b.resolution;
                   })->resolution;
  for (const Part& part : parts) {
    append_all(all, part.on_disk);
    append_all(all, part.in_memory);
  }
  return all;
}

}  // namespace koord::store
