// SPDX-License-Identifier: Apache-2.0
#include "core/store/sql.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/parse.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/sql_tables.hpp"

namespace koord::store {
namespace {

constexpr std::array<std::string_view, 10> kReadingPragmas{
    "application_id", "freelist_count", "integrity_check", "page_count",  "page_size",
    "quick_check",    "table_info",     "table_list",      "table_xinfo", "user_version"};

// Allows only reads. SQLite calls this for every action of a statement during its preparation.
int allow(void*, int action, const char* first, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      return std::find(kReadingPragmas.begin(), kReadingPragmas.end(), first) != kReadingPragmas.end() ? SQLITE_OK
                                                                                                       : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// Opens the file. The tables keep a pointer to the connection, so it must not move.
Result<std::unique_ptr<sqlite::Connection>> open(const std::string& path) {
  sqlite::Connection opened = TRY(sqlite::Connection::open(path, sqlite::Connection::Access::read_only));
  auto owned = std::make_unique<sqlite::Connection>(std::move(opened));
  sqlite::Connection& connection = *owned;
  // The first read finds faults that opening does not find: the file is not a database, or the log's shared memory
  // cannot be accessed.
  Result<std::int64_t> tables =
      connection.integer("SELECT count(*) FROM sqlite_schema WHERE name IN ('metric', 'identity', 'chunk', 'journal')");
  if (!tables) return std::move(tables).error().context("cannot read '" + path + "'");
  if (*tables != 4) return invalid("'" + path + "' is not a metric cache");
  TRY(add_sample_table(connection));
  TRY(add_series_table(connection));
  // Preparing a statement declares the tables, which the authorizer would refuse later.
  TRY(connection.prepare("SELECT 1 FROM samples, series"));
  sqlite3_set_authorizer(connection.get(), &allow, nullptr);
  return owned;
}

Result<sqlite::Statement> prepare_one(sqlite::Connection& connection, const std::string& text) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  int code = sqlite3_prepare_v2(connection.get(), text.c_str(), static_cast<int>(text.size()), &raw, &rest);
  sqlite::Statement statement(raw);
  if (code == SQLITE_AUTH)
    return invalid("only SELECT, and PRAGMAs that read, are allowed: " + std::string(sqlite3_errmsg(connection.get())));
  if (code != SQLITE_OK) return invalid(sqlite3_errmsg(connection.get()));
  if (!raw) return invalid("there is no statement");
  if (!trim(rest).empty())
    return invalid("expected one statement, found more behind it: '" + std::string(trim(rest)) + "'");
  return statement;
}

}  // namespace

Result<SqlResult> run_sql(const std::string& path, const std::string& text, const SqlLimits& limits) {
  std::unique_ptr<sqlite::Connection> owned = TRY(open(path));
  sqlite::Connection& connection = *owned;
  sqlite::Statement statement = TRY(prepare_one(connection, text));
  connection.set_deadline(std::chrono::steady_clock::now() + limits.timeout);
  SqlResult result;
  for (int i = 0; i < statement.columns(); ++i) result.columns.emplace_back(statement.column_name(i));
  for (;;) {
    Result<bool> row = statement.step();
    if (!row && row.error().is(std::errc::timed_out))
      return invalid("the statement took more than " + format_duration(limits.timeout));
    if (!row) return std::move(row).error();
    if (!*row) return result;
    if (result.rows.size() == limits.max_rows) {
      result.truncated = true;
      return result;
    }
    std::vector<std::string>& values = result.rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i) values.emplace_back(statement.text(i));
  }
}

}  // namespace koord::store
