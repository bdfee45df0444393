// SPDX-License-Identifier: Apache-2.0
// The callbacks that SQLite needs for a read-only table made by code, apart from its columns and rows. Those are a
// Cursor's:
//   static constexpr const char* kName;
//   static std::string columns();                              as in CREATE TABLE, without the parentheses
//   static void best_index(sqlite3_index_info&);
//   int filter(const char* plan, int n, sqlite3_value** values);   to the first row; a code of SQLite
//   int next();                                                to the next; at_end: no more rows
//   void column(sqlite3_context*, int at);
#pragma once

#include <sqlite3.h>

#include <string>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::store {

struct VirtualTable : sqlite3_vtab {
  sqlite::Connection* database;
};

struct VirtualCursor : sqlite3_vtab_cursor {
  bool at_end = true;

  sqlite::Connection& database() const { return *static_cast<VirtualTable*>(pVtab)->database; }
};

template <class Cursor>
struct VirtualTableOf {
  static Cursor& cursor(sqlite3_vtab_cursor* base) { return *static_cast<Cursor*>(base); }

  static int connect(sqlite3* db, void* database, int, const char* const*, sqlite3_vtab** out, char**) {
    const std::string columns = "CREATE TABLE x(" + Cursor::columns() + ")";
    if (int code = sqlite3_declare_vtab(db, columns.c_str()); code != SQLITE_OK) return code;
    auto* table = new VirtualTable{};
    table->database = static_cast<sqlite::Connection*>(database);
    *out = table;
    return SQLITE_OK;
  }
  static int disconnect(sqlite3_vtab* table) { return delete static_cast<VirtualTable*>(table), SQLITE_OK; }
  static int best_index(sqlite3_vtab*, sqlite3_index_info* info) { return Cursor::best_index(*info), SQLITE_OK; }
  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) { return *out = new Cursor{}, SQLITE_OK; }
  static int close(sqlite3_vtab_cursor* base) { return delete &cursor(base), SQLITE_OK; }
  static int filter(sqlite3_vtab_cursor* base, int, const char* plan, int n, sqlite3_value** values) {
    return cursor(base).filter(plan, n, values);
  }
  static int next(sqlite3_vtab_cursor* base) { return cursor(base).next(); }
  static int at_end(sqlite3_vtab_cursor* base) { return cursor(base).at_end; }
  static int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int at) {
    return cursor(base).column(context, at), SQLITE_OK;
  }
  // Rows of these tables have no id.
  static int rowid(sqlite3_vtab_cursor*, sqlite3_int64* out) { return *out = 0, SQLITE_OK; }

  static constexpr sqlite3_module kModule = [] {
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
};

template <class Cursor>
Result<void> add_virtual_table(sqlite::Connection& connection) {
  int code = sqlite3_create_module(connection.get(), Cursor::kName, &VirtualTableOf<Cursor>::kModule, &connection);
  if (code == SQLITE_OK) return {};
  return sqlite::sqlite_error(connection.get(), code, "cannot add the table '" + std::string(Cursor::kName) + "'");
}

}  // namespace koord::store
