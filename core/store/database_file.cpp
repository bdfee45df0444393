// SPDX-License-Identifier: Apache-2.0
#include "core/store/database_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>

#include "core/sqlite/set_aside.hpp"

namespace koord::store {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::int64_t kApplicationId = 0x6b6f6f72;  // "koor"
// The check reads the whole file. If this time is not enough, the file is opened unchecked.
constexpr auto kCheckTime = 500ms;
constexpr std::uint64_t kMinLongLog = 256u << 20;
constexpr std::uint64_t kLeastLogLimit = 16u << 20;

constexpr const char* kTables =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, resolution REAL NOT NULL);"
    "CREATE TABLE identity(id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, labels BLOB NOT NULL, ended_ms INTEGER);"
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, first_ms INTEGER NOT NULL,"
    " last_ms INTEGER NOT NULL, lowest INTEGER NOT NULL, highest INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE TABLE journal(id INTEGER PRIMARY KEY, newest_ms INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE TABLE kv(key TEXT PRIMARY KEY, expires_ms INTEGER, value BLOB NOT NULL) WITHOUT ROWID;";

// Why a file cannot be used: a word for its new name, and a sentence.
struct Fault {
  std::string word;
  std::string story;
};

std::optional<Fault> fault_of_log(const std::string& path, std::uint64_t max_bytes) {
  const std::uint64_t bytes = log_bytes(path);
  if (bytes <= std::max(4 * max_bytes, kMinLongLog)) return std::nullopt;
  return Fault{"long-log", "its write-ahead log has " + std::to_string(bytes) + " bytes"};
}

// Checks the file. The error is timed_out if the check took too long.
Result<std::string> quick_check(sqlite::Connection& connection) {
  connection.set_deadline(std::chrono::steady_clock::now() + kCheckTime);
  auto check = [&]() -> Result<std::string> {
    sqlite::Statement statement = TRY(connection.prepare("PRAGMA quick_check(1)"));
    TRY(statement.step());
    return std::string(statement.text(0));
  };
  Result<std::string> found = check();
  connection.set_deadline(std::nullopt);
  return found;
}

Result<std::optional<Fault>> fault_of_content(sqlite::Connection& connection, std::string& report) {
  std::int64_t application = TRY(connection.integer("PRAGMA application_id"));
  std::int64_t version = TRY(connection.integer("PRAGMA user_version"));
  if (application != kApplicationId) return std::optional(Fault{"foreign", "it belongs to another program"});
  if (version != kFileVersion)
    return std::optional(
        Fault{version > kFileVersion ? "newer-version" : "older-version",
              "its version is " + std::to_string(version) + ", expected " + std::to_string(kFileVersion)});
  Result<std::string> found = quick_check(connection);
  if (!found && found.error().is(std::errc::timed_out)) {
    report += "the file is too large to be checked in the time there is, opened unchecked\n";
    return std::optional<Fault>();
  }
  if (!found) return std::move(found).error();
  if (*found != "ok") return std::optional(Fault{"corrupt", *found});
  return std::optional<Fault>();
}

Result<void> begin_file(sqlite::Connection& connection) {
  std::uint64_t file_id = std::random_device()();
  return connection.execute("BEGIN IMMEDIATE;" + std::string(kTables) + "INSERT INTO meta VALUES('file_id'," +
                            std::to_string((file_id << 31) ^ std::random_device()()) +
                            ");PRAGMA application_id=" + std::to_string(kApplicationId) +
                            ";PRAGMA user_version=" + std::to_string(kFileVersion) + ";COMMIT;");
}

// Limits memory and disk: a small page cache, and a log that is truncated after each checkpoint.
Result<void> set_modes(sqlite::Connection& connection) {
  return connection.execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-512; PRAGMA wal_autocheckpoint=512;"
      "PRAGMA journal_size_limit=4194304; PRAGMA temp_store=MEMORY; PRAGMA wal_checkpoint(TRUNCATE);");
}

Result<std::optional<Fault>> find_fault(sqlite::Connection& connection, std::string& report) {
  TRY(set_modes(connection));
  std::int64_t pages = TRY(connection.integer("PRAGMA page_count"));
  std::int64_t tables = TRY(connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (pages > 1 || tables > 0) return fault_of_content(connection, report);
  TRY(begin_file(connection));
  return std::optional<Fault>();
}

struct Attempt {
  std::optional<sqlite::Connection> connection;
  std::optional<Fault> fault;
};

Result<Attempt> attempt(const std::string& path, std::uint64_t max_bytes, std::string& report) {
  if (std::optional<Fault> fault = fault_of_log(path, max_bytes)) return Attempt{std::nullopt, fault};
  sqlite::Connection connection = TRY(sqlite::Connection::open(path, sqlite::Connection::Access::read_write));
  Result<std::optional<Fault>> fault = find_fault(connection, report);
  if (!fault && fault.error().is(std::errc::bad_message))
    return Attempt{std::nullopt, Fault{"corrupt", fault.error().text}};
  if (!fault) return std::move(fault).error();
  if (*fault) return Attempt{std::nullopt, *fault};
  if (const std::uint64_t bytes = log_bytes(path); bytes > most_log_bytes(max_bytes)) return log_too_long(path, bytes);
  return Attempt{std::move(connection), std::nullopt};
}

}  // namespace

std::uint64_t most_log_bytes(std::uint64_t max_bytes) { return std::max(max_bytes, kLeastLogLimit); }

std::uint64_t log_bytes(const std::string& path) {
  std::error_code missing;
  const std::uint64_t bytes = fs::file_size(path + "-wal", missing);
  return missing ? 0 : bytes;
}

Error log_too_long(const std::string& path, std::uint64_t bytes) {
  return {
      std::make_error_code(std::errc::device_or_resource_busy),
      "'" + path + "-wal' has " + std::to_string(bytes) +
          " bytes and cannot be cut back: another program has had the file open in one transaction since; it must end"};
}

Result<OpenedFile> open_database(const std::string& path, std::uint64_t max_bytes, std::int64_t wall_ns) {
  std::error_code ignored;  // attempt() reports the error
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::string report;
  for (bool again : {true, false}) {
    Attempt found = TRY(attempt(path, max_bytes, report));
    if (found.connection) return OpenedFile{std::move(*found.connection), report};
    std::string aside = TRY(sqlite::set_aside(path, found.fault->word, wall_ns));
    report += "'" + path + "' cannot be used: " + found.fault->story + "; set aside as '" + aside +
              "', a new one is created\n";
    if (!again) break;
  }
  return Error{std::make_error_code(std::errc::io_error), "'" + path + "' cannot be used even when new"};
}

}  // namespace koord::store
