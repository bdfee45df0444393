// SPDX-License-Identifier: Apache-2.0
#include "core/sqlite/connection.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "core/base/file.hpp"

namespace koord::sqlite {
namespace {

constexpr int kBusyMs = 2000;
constexpr int kInstructionsPerCheck = 1000;

std::errc kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return std::errc::no_space_on_device;
    case SQLITE_READONLY:
      return std::errc::read_only_file_system;
    case SQLITE_IOERR:
      return std::errc::io_error;
    case SQLITE_CANTOPEN:
      return std::errc::no_such_file_or_directory;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return std::errc::bad_message;
    case SQLITE_INTERRUPT:
      return std::errc::timed_out;
    case SQLITE_BUSY:
      return std::errc::device_or_resource_busy;
    default:
      return std::errc::invalid_argument;
  }
}

int is_past(void* deadline) {
  return std::chrono::steady_clock::now() > *static_cast<std::chrono::steady_clock::time_point*>(deadline);
}

// Restricts the permissions of the database file; SQLite gives the files beside it the same permissions. An existing
// file is never opened here, because closing it would drop the locks of this process' other connections. Errors are
// reported when the database is opened.
void keep_private(const std::string& path) {
  static_cast<void>(open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  for (const char* end : {"", "-wal", "-shm"}) {
    const std::string file = path + end;
    struct stat about;
    if (::lstat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & S_IRWXO) != 0)
      ::chmod(file.c_str(), about.st_mode & 07770);
  }
}

}  // namespace

Error sqlite_error(sqlite3* connection, int code, const std::string& what) {
  std::string reason = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  return Error{std::make_error_code(kind_of(code)), what + ": " + reason};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

// A failed bind is reported by step(). Only a wrong number leaves the parameter NULL, which is a bug of the caller.
Statement& Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), at, value);
  return *this;
}

Statement& Statement::bind(int at, std::optional<std::int64_t> value) {
  if (value) return bind(at, *value);
  sqlite3_bind_null(statement_.get(), at);
  return *this;
}

Statement& Statement::bind(int at, double value) {
  sqlite3_bind_double(statement_.get(), at, value);
  return *this;
}

Statement& Statement::bind_text(int at, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), at, value.data() ? value.data() : "", value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int at, std::string_view value) {
  sqlite3_bind_blob64(statement_.get(), at, value.data() ? value.data() : "", value.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  sqlite3* connection = sqlite3_db_handle(statement_.get());
  Error error = sqlite_error(connection, sqlite3_extended_errcode(connection), "SQLite");
  sqlite3_reset(statement_.get());
  return error;
}

Result<void> Statement::run() {
  bool row = TRY(step());
  if (row) reset();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string_view Statement::column_name(int at) const {
  const char* name = sqlite3_column_name(statement_.get(), at);
  return name ? name : "";
}

bool Statement::is_null(int at) const { return sqlite3_column_type(statement_.get(), at) == SQLITE_NULL; }
std::int64_t Statement::integer(int at) const { return sqlite3_column_int64(statement_.get(), at); }
double Statement::real(int at) const { return sqlite3_column_double(statement_.get(), at); }

std::string_view Statement::text(int at) const {
  auto text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  return {text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

std::string_view Statement::blob(int at) const {
  auto bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), at));
  return {bytes ? bytes : "", static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

std::optional<std::int64_t> Statement::optional_integer(int at) const {
  if (is_null(at)) return std::nullopt;
  return integer(at);
}

void Connection::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Connection> Connection::open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  flags |= access == Access::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (access == Access::read_write) keep_private(path);
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Connection connection(raw);
  if (code != SQLITE_OK) return sqlite_error(raw, code, "cannot open '" + path + "'");
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMs);
  return connection;
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  int code =
      sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return sqlite_error(get(), code, "SQLite");
  return Statement(raw);
}

Result<void> Connection::execute(const std::string& sql) {
  int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_error(get(), code, "SQLite");
  return {};
}

Result<std::int64_t> Connection::integer(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  bool row = TRY(statement.step());
  if (!row) return not_found("'" + sql + "' returned nothing");
  return statement.integer(0);
}

void Connection::set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
  if (!deadline) return sqlite3_progress_handler(get(), 0, nullptr, nullptr);
  deadline_ = std::make_unique<std::chrono::steady_clock::time_point>(*deadline);
  sqlite3_progress_handler(get(), kInstructionsPerCheck, &is_past, deadline_.get());
}

}  // namespace koord::sqlite
