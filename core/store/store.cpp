// SPDX-License-Identifier: Apache-2.0
#include "core/store/store.hpp"

#include <algorithm>

#include "core/sqlite/connection.hpp"
#include "core/store/aggregates.hpp"
#include "core/store/chunk_source.hpp"
#include "core/store/gather.hpp"
#include "core/store/load.hpp"
#include "core/store/packed_labels.hpp"
#include "core/store/state.hpp"
#include "core/store/writer.hpp"

namespace koord::store {
namespace {

Span span_of(Time from, Time to) { return {to_ms(from + std::chrono::microseconds(999)), to_ms(to)}; }

}  // namespace

struct Store::Parts {
  Parts(const Options& options, const Clock& c) : clock(c), state(options), writer(options, state, source, c) {}

  const Clock& clock;
  State state;
  ChunkSource source;
  std::string report;
  Writer writer;  // last member, because its thread uses the other members
};

Result<std::unique_ptr<Store>> Store::open(Options options, const Clock& clock) {
  TRY(check(options));
  auto parts = std::make_unique<Parts>(options, clock);
  parts->report = parts->writer.open();
  parts->writer.start();
  return std::unique_ptr<Store>(new Store(std::move(parts)));
}

std::optional<Time> Store::newest_time(const std::string& path) {
  Result<sqlite::Connection> connection = sqlite::Connection::open(path, sqlite::Connection::Access::read_only);
  if (!connection) return std::nullopt;
  Result<std::int64_t> newest = newest_ms(*connection);
  if (!newest || *newest <= 0) return std::nullopt;
  return from_ms(*newest);
}

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::~Store() = default;

const std::string& Store::open_report() const { return parts_->report; }

Result<void> Store::begin_series(std::uint32_t index, const SeriesSpec& spec) {
  State& state = parts_->state;
  std::lock_guard lock(state.mutex);
  return state.head.begin_series(index, spec, [&](MetricId metric) { return state.chunks.newest_ms(metric); });
}

void Store::end_series(std::uint32_t index) {
  std::lock_guard lock(parts_->state.mutex);
  parts_->state.head.end_series(index);
}

Result<void> Store::append(Time time, std::span<const Sample> samples) {
  std::lock_guard lock(parts_->state.mutex);
  std::uint64_t count = TRY(parts_->state.head.append(time, samples));
  parts_->state.stats.appended_samples += count;
  return {};
}

std::vector<AggregateRow> Store::aggregate(const Query& query, std::span<const Aggregation> aggregations) const {
  std::vector<AggregateRow> rows;
  std::size_t count = 0;
  Gatherer gatherer(parts_->state, parts_->source, span_of(query.from, query.to), {.labels = query.with_labels});
  gatherer.for_each(query.metric, query.match, [&](const Gatherer::Target& target, Collected& collected) {
    rows.push_back(store::aggregate(collected, aggregations));
    if (query.with_labels) rows.back().labels = unpack_labels(target.labels);
    rows.back().tag = target.tag;
    count += rows.back().count;
    return count <= query.most_samples && rows.size() <= query.most_rows;
  });
  if (query.with_labels)
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.labels < b.labels; });
  return rows;
}

std::optional<AggregateRow> Store::aggregate_series(std::uint32_t index, std::span<const Aggregation> aggregations,
                                                    Time from, Time to) const {
  Collected collected;
  Gatherer gatherer(parts_->state, parts_->source, span_of(from, to), {});
  if (!gatherer.one(index, collected)) return std::nullopt;
  return store::aggregate(collected, aggregations);
}

std::vector<SeriesSamples> Store::samples(const Query& query) const {
  std::vector<SeriesSamples> all;
  std::size_t count = 0;
  Gatherer gatherer(parts_->state, parts_->source, span_of(query.from, query.to), {.times = true, .labels = true});
  gatherer.for_each(query.metric, query.match, [&](const Gatherer::Target& target, Collected& collected) {
    SeriesSamples& series = all.emplace_back(SeriesSamples{unpack_labels(target.labels), target.tag, {}});
    for (std::size_t i = 0; i < collected.values.size(); ++i)
      series.samples.push_back({from_ms(collected.times_ms[i]), from_units(collected.values[i], collected.resolution)});
    count += series.samples.size();
    return count <= query.most_samples && all.size() <= query.most_rows;
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.labels < b.labels; });
  return all;
}

Result<void> Store::put(const std::string& key, std::span<const std::byte> value,
                        std::optional<Duration> time_to_live) {
  std::int64_t now_ms = to_ms(parts_->clock.now());
  KeyValue entry{std::string(reinterpret_cast<const char*>(value.data()), value.size()), std::nullopt};
  if (time_to_live) entry.expires_ms = now_ms + *time_to_live / std::chrono::milliseconds(1);
  std::lock_guard lock(parts_->state.mutex);
  return parts_->state.values.put(key, std::move(entry), now_ms);
}

std::optional<std::vector<std::byte>> Store::get(const std::string& key) const {
  std::int64_t now_ms = to_ms(parts_->clock.now());
  std::lock_guard lock(parts_->state.mutex);
  const std::string* found = parts_->state.values.get(key, now_ms);
  if (!found) return std::nullopt;
  auto bytes = reinterpret_cast<const std::byte*>(found->data());
  return std::vector<std::byte>(bytes, bytes + found->size());
}

void Store::erase(const std::string& key) {
  std::lock_guard lock(parts_->state.mutex);
  parts_->state.values.erase(key);
}

KeyValueUse Store::use_below(const std::string& prefix) const {
  std::lock_guard lock(parts_->state.mutex);
  return parts_->state.values.use_below(prefix);
}

Stats Store::stats() const {
  const State& state = parts_->state;
  std::lock_guard lock(state.mutex);
  Stats stats = state.stats;
  stats.chunks = state.chunks.size();
  stats.series = state.head.catalogue().size();
  stats.live_series = state.head.live_series();
  if (std::optional<std::int64_t> oldest = state.chunks.oldest_ms()) stats.oldest = from_ms(*oldest);
  return stats;
}

void Store::flush() { parts_->writer.flush(); }

}  // namespace koord::store
