// SPDX-License-Identifier: Apache-2.0
// RAII over SQLite: a connection and its prepared statements. One thread at a time uses a connection. Errors carry a
// code of the kind of trouble: no_space_on_device, read_only_file_system, io_error, bad_message (not a sound
// database), timed_out (interrupted), no_such_file_or_directory; anything else is invalid_argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace koord::sqlite {

class Statement {
 public:
  Statement() = default;  // of no SQL text; it can only be assigned to
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Parameters are numbered from 1. Text and blobs are not copied: they must live until the statement is reset.
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::optional<std::int64_t> value);
  Statement& bind(int at, double value);
  Statement& bind_text(int at, std::string_view value);
  Statement& bind_blob(int at, std::string_view value);

  // True when there is a row. At the end, and on an error, the statement is reset.
  Result<bool> step();
  // Runs a statement that returns no rows.
  Result<void> run();
  void reset();

  // Columns are numbered from 0; views are good until the next step.
  int columns() const;
  std::string_view column_name(int at) const;
  bool is_null(int at) const;
  std::int64_t integer(int at) const;
  double real(int at) const;
  std::string_view text(int at) const;
  std::string_view blob(int at) const;
  std::optional<std::int64_t> optional_integer(int at) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  enum class Access { read_only, read_write };
  // read_write creates a missing file with mode 0600, and takes the permissions of others from one that exists.
  static Result<Connection> open(const std::string& path, Access access);

  Result<Statement> prepare(std::string_view sql);
  // One or more statements, separated by ';', without parameters; rows are ignored.
  Result<void> execute(const std::string& sql);
  // The one integer that a statement returns.
  Result<std::int64_t> integer(const std::string& sql);

  // Interrupts statements that run past it; nullopt lifts the limit. The error is timed_out.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline);

  sqlite3* get() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Connection(sqlite3* connection) : connection_(connection) {}

  // The deadline stands at a fixed address: SQLite holds on to it.
  std::unique_ptr<std::chrono::steady_clock::time_point> deadline_;
  std::unique_ptr<sqlite3, Close> connection_;
};

Error sqlite_error(sqlite3* connection, int code, const std::string& what);

}  // namespace koord::sqlite
