// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <memory>

#include "core/store/sql_label_columns.hpp"
#include "core/store/sql_tables.hpp"

namespace koord::store {
namespace {

enum Column { kMetric, kUnit, kResolution, kFirstLabel, kEnded = kFirstLabel + static_cast<int>(kLabelColumns.size()) + 1 };

struct Table : sqlite3_vtab {
  Connection* database;
};

struct Cursor : sqlite3_vtab_cursor {
  std::optional<Statement> rows;
  bool at_end = true;
};

int connect(sqlite3* db, void* database, int, const char* const*, sqlite3_vtab** out, char**) {
  std::string columns = "CREATE TABLE x(metric TEXT, unit TEXT, resolution REAL, ";
  columns.append(kLabelColumnList).append(", ended REAL)");
  int code = sqlite3_declare_vtab(db, columns.c_str());
  if (code != SQLITE_OK) return code;
  auto table = new Table{};
  table->database = static_cast<Connection*>(database);
  *out = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 10'000;
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = new Cursor{};
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
  auto* cursor = static_cast<Cursor*>(base);
  Result<bool> row = cursor->rows->step();
  cursor->at_end = !row || !*row;
  return row ? SQLITE_OK : SQLITE_ERROR;
}

int filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto* cursor = static_cast<Cursor*>(base);
  Result<Statement> rows = static_cast<Table*>(base->pVtab)->database->prepare(
      "SELECT name, unit, resolution, labels, ended_ms FROM identity JOIN metric ON metric.id = identity.metric");
  if (!rows) return SQLITE_ERROR;
  cursor->rows = std::move(*rows);
  return next(base);
}

int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int at) {
  Statement& rows = *static_cast<Cursor*>(base)->rows;
  switch (at) {
    case kMetric: give_text(context, rows.text(0)); break;
    case kUnit: give_text(context, rows.text(1)); break;
    case kResolution: sqlite3_result_double(context, rows.real(2)); break;
    case kEnded:
      if (auto ended = rows.optional_integer(4)) sqlite3_result_double(context, static_cast<double>(*ended) / 1000);
      break;
    default: give_label(context, rows.blob(3), static_cast<std::size_t>(at - kFirstLabel));
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor*, sqlite3_int64* out) {
  *out = 0;
  return SQLITE_OK;
}

constexpr sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}();

}  // namespace

Result<void> add_series_table(Connection& connection) {
  int code = sqlite3_create_module(connection.get(), "series", &kModule, &connection);
  if (code != SQLITE_OK) return sqlite_error(connection.get(), code, "cannot add the table 'series'");
  return {};
}

}  // namespace koord::store
