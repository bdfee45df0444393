// SPDX-License-Identifier: Apache-2.0
#include "core/store/load.hpp"

namespace koord::store {
namespace {

// Limits the tables if a row is damaged. A node that starts 100,000 series a day reaches this number in 7 years.
constexpr std::int64_t kMaxSeriesId = 1 << 28;

}  // namespace

Result<std::int64_t> newest_ms(sqlite::Connection& connection) {
  return connection.integer(
      "SELECT max((SELECT coalesce(max(last_ms), 0) FROM chunk), (SELECT coalesce(max(newest_ms), 0) FROM journal))");
}

Result<void> load_names(sqlite::Connection& connection, Loaded& loaded) {
  loaded.file_id = TRY(connection.integer("SELECT value FROM meta WHERE key = 'file_id'"));
  std::int64_t newest = TRY(newest_ms(connection));
  sqlite::Statement metrics = TRY(connection.prepare("SELECT id, name, unit, resolution FROM metric"));
  for (;;) {
    bool row = TRY(metrics.step());
    if (!row) break;
    loaded.catalogue->load_metric(static_cast<MetricId>(metrics.integer(0)), std::string(metrics.text(1)),
                                  std::string(metrics.text(2)), metrics.real(3));
  }
  sqlite::Statement series = TRY(connection.prepare("SELECT id, metric, labels, ended_ms FROM identity ORDER BY id"));
  for (;;) {
    bool row = TRY(series.step());
    if (!row) return {};
    if (series.integer(0) <= 0 || series.integer(0) > kMaxSeriesId) continue;
    loaded.catalogue->load_series(static_cast<SeriesId>(series.integer(0)), static_cast<MetricId>(series.integer(1)),
                                  std::string(series.blob(2)), series.optional_integer(3).value_or(newest));
  }
}

Result<void> load_chunks(sqlite::Connection& connection, Loaded& loaded) {
  sqlite::Statement chunks =
      TRY(connection.prepare("SELECT id, metric, first_ms, last_ms, lowest, highest FROM chunk ORDER BY id"));
  for (;;) {
    bool row = TRY(chunks.step());
    if (!row) return {};
    loaded.chunks.add(static_cast<MetricId>(chunks.integer(1)),
                      {chunks.integer(0), chunks.integer(2), chunks.integer(3),
                       static_cast<SeriesId>(chunks.integer(4)), static_cast<SeriesId>(chunks.integer(5))});
  }
}

Result<void> load_values(sqlite::Connection& connection, Loaded& loaded) {
  sqlite::Statement values = TRY(connection.prepare("SELECT key, expires_ms, value FROM kv"));
  for (;;) {
    bool row = TRY(values.step());
    if (!row) return {};
    loaded.values.emplace_back(std::string(values.text(0)),
                               KeyValue{std::string(values.blob(2)), values.optional_integer(1)});
  }
}

}  // namespace koord::store
