// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "core/store/sql_label_columns.hpp"
#include "core/store/sql_tables.hpp"
#include "core/store/sql_virtual_table.hpp"

namespace koord::store {
namespace {

enum SeriesColumn {
  kSeriesMetric,
  kSeriesUnit,
  kSeriesResolution,
  kSeriesFirstLabel,
  kSeriesEnded = kSeriesFirstLabel + static_cast<int>(kLabelColumns.size()) + 1
};

struct Series : VirtualCursor {
  static constexpr const char* kName = "series";
  static std::string columns() {
    return std::string("metric TEXT, unit TEXT, resolution REAL, ").append(kLabelColumnList).append(", ended REAL");
  }
  static void best_index(sqlite3_index_info& info) { info.estimatedCost = 10'000; }

  int filter(const char*, int, sqlite3_value**);
  int next();
  void column(sqlite3_context* context, int at);

  std::optional<sqlite::Statement> rows;
};

int Series::filter(const char*, int, sqlite3_value**) {
  Result<sqlite::Statement> prepared = database().prepare(
      "SELECT name, unit, resolution, labels, ended_ms FROM identity JOIN metric ON metric.id = identity.metric");
  if (!prepared) return SQLITE_ERROR;
  rows = std::move(*prepared);
  return next();
}

int Series::next() {
  Result<bool> row = rows->step();
  at_end = !row || !*row;
  return row ? SQLITE_OK : SQLITE_ERROR;
}

void Series::column(sqlite3_context* context, int at) {
  switch (at) {
    case kSeriesMetric:
      give_text(context, rows->text(0));
      break;
    case kSeriesUnit:
      give_text(context, rows->text(1));
      break;
    case kSeriesResolution:
      sqlite3_result_double(context, rows->real(2));
      break;
    case kSeriesEnded:
      if (auto ended = rows->optional_integer(4)) sqlite3_result_double(context, static_cast<double>(*ended) / 1000);
      break;
    default:
      give_label(context, rows->blob(3), static_cast<std::size_t>(at - kSeriesFirstLabel));
  }
}

}  // namespace

Result<void> add_series_table(sqlite::Connection& connection) { return add_virtual_table<Series>(connection); }

}  // namespace koord::store
