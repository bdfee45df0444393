// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "core/store/sample_scan.hpp"
#include "core/store/sql_label_columns.hpp"
#include "core/store/sql_tables.hpp"

namespace koord::store {
namespace {

enum Column { kTime, kMetric, kFirstLabel, kValue = kFirstLabel + static_cast<int>(kLabelColumns.size()) + 1 };

struct Table : sqlite3_vtab {
  Connection* database;
};

struct Cursor : sqlite3_vtab_cursor {
  std::optional<SampleScan> scan;
  bool at_end = true;
};

int fail(sqlite3_vtab* table, const Error& error) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("samples: %s", error.text.c_str());
  return error.is(std::errc::timed_out) ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

int connect(sqlite3* db, void* database, int, const char* const*, sqlite3_vtab** out, char**) {
  std::string columns = "CREATE TABLE x(time REAL, metric TEXT, ";
  columns.append(kLabelColumnList).append(", value REAL)");
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

// Which conditions reach filter(): one letter each, in the order of its arguments. SQLite checks them all again, so
// the bounds need only not be too narrow.
char letter(const sqlite3_index_info::sqlite3_index_constraint& condition) {
  if (!condition.usable) return 0;
  bool equal = condition.op == SQLITE_INDEX_CONSTRAINT_EQ;
  if (condition.iColumn == kMetric) return equal ? 'm' : '\0';
  if (condition.iColumn != kTime) return 0;
  switch (condition.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return '<';
    default: return 0;
  }
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  std::string letters;
  info->estimatedCost = 1e9;
  for (int i = 0; i < info->nConstraint; ++i) {
    char used = letter(info->aConstraint[i]);
    if (used == 0) continue;
    letters += used;
    info->aConstraintUsage[i].argvIndex = static_cast<int>(letters.size());
    info->estimatedCost /= 10;
  }
  info->idxStr = sqlite3_mprintf("%s", letters.c_str());
  info->needToFreeIdxStr = 1;
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
  Result<bool> more = cursor->scan->next();
  cursor->at_end = !more || !*more;
  return more ? SQLITE_OK : fail(base->pVtab, more.error());
}

// Seconds to milliseconds, a little wider.
std::int64_t bound_ms(sqlite3_value* seconds, double margin) {
  double ms = sqlite3_value_double(seconds) * 1000 + margin;
  return static_cast<std::int64_t>(std::clamp(ms, 0.0, 9e18));
}

void narrow(ScanBounds& bounds, char letter, sqlite3_value* value) {
  if (letter == 'm') {
    auto text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    bounds.metric = text ? text : "";
    return;
  }
  int type = sqlite3_value_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  if (letter != '<') bounds.from_ms = std::max(bounds.from_ms, bound_ms(value, -2));
  if (letter != '>') bounds.to_ms = std::min(bounds.to_ms, bound_ms(value, 2));
}

int filter(sqlite3_vtab_cursor* base, int, const char* letters, int count, sqlite3_value** values) {
  auto* cursor = static_cast<Cursor*>(base);
  ScanBounds bounds;
  for (int i = 0; i < count; ++i) narrow(bounds, letters[i], values[i]);
  cursor->scan.reset();
  Result<SampleScan> scan = SampleScan::begin(*static_cast<Table*>(base->pVtab)->database, std::move(bounds));
  if (!scan) return fail(base->pVtab, scan.error());
  cursor->scan.emplace(std::move(*scan));
  return next(base);
}

int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int at) {
  const SampleScan& scan = *static_cast<Cursor*>(base)->scan;
  switch (at) {
    case kTime: sqlite3_result_double(context, static_cast<double>(scan.time_ms()) / 1000); break;
    case kMetric: give_text(context, scan.metric().name); break;
    case kValue: sqlite3_result_double(context, scan.value()); break;
    default: give_label(context, scan.labels(), static_cast<std::size_t>(at - kFirstLabel));
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

Result<void> add_sample_table(Connection& connection) {
  int code = sqlite3_create_module(connection.get(), "samples", &kModule, &connection);
  if (code != SQLITE_OK) return sqlite_error(connection.get(), code, "cannot add the table 'samples'");
  return {};
}

}  // namespace koord::store
