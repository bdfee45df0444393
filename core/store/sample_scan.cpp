// SPDX-License-Identifier: Apache-2.0
#include "core/store/sample_scan.hpp"

#include "core/store/aggregates.hpp"
#include "core/store/load.hpp"
#include "core/store/unsealed.hpp"

namespace koord::store {

Result<SampleScan> SampleScan::begin(sqlite::Connection& connection, ScanBounds bounds) {
  sqlite::Statement chunks =
      TRY(connection.prepare("SELECT data FROM chunk WHERE last_ms >= ?1 AND first_ms <= ?2"
                             " AND (?3 IS NULL OR metric IN (SELECT id FROM metric WHERE name = ?3)) ORDER BY id"));
  SampleScan scan(connection, std::move(bounds), std::move(chunks));
  scan.chunks_.bind(1, scan.bounds_->from_ms).bind(2, scan.bounds_->to_ms);
  if (scan.bounds_->metric) scan.chunks_.bind_text(3, *scan.bounds_->metric);
  TRY(load_names(connection, scan.names_));
  return scan;
}

Result<bool> SampleScan::next() {
  ++at_;
  while (at_ >= samples_.size()) {
    bool more = TRY(load_more());
    if (!more) return false;
    at_ = 0;
  }
  return true;
}

Result<bool> SampleScan::load_more() {
  samples_.clear();
  if (chunks_done_) return load_journal();
  bool row = TRY(chunks_.step());
  if (row) {
    load_chunk(chunks_.blob(0));
    return true;
  }
  chunks_done_ = true;
  return load_journal();
}

Result<bool> SampleScan::load_journal() {
  if (std::exchange(journal_done_, true)) return false;
  TRY(for_each_unsealed(*connection_, names_.catalogue->largest_id(),
                        [this](std::int64_t time_ms, SeriesId id, std::int64_t value) { take(time_ms, id, value); }));
  return true;
}

void SampleScan::load_chunk(std::string_view bytes) {
  std::optional<ChunkReader> chunk = ChunkReader::open(bytes);
  if (!chunk) return;
  std::vector<std::int64_t> values;
  for (std::size_t s = 0; s < chunk->series().size(); ++s) {
    if (!chunk->read(s, values)) continue;
    for (std::size_t row = 0; row < values.size(); ++row)
      if (values[row] != kMissing) take(chunk->times_ms()[row], chunk->series()[s], values[row]);
  }
}

void SampleScan::take(std::int64_t time_ms, SeriesId id, std::int64_t value) {
  if (time_ms < bounds_->from_ms || time_ms > bounds_->to_ms) return;
  const Identity* identity = names_.catalogue->find(id);
  if (!identity) return;
  if (bounds_->metric && names_.catalogue->metric_of(identity->metric).name != *bounds_->metric) return;
  samples_.push_back({time_ms, id, value});
}

const Metric& SampleScan::metric() const { return names_.catalogue->metric_of(identity().metric); }

double SampleScan::value() const { return from_units(samples_[at_].value, metric().resolution); }

}  // namespace koord::store
