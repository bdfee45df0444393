// SPDX-License-Identifier: Apache-2.0
#include "core/knob/journal_file.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "core/knob/journal_table.hpp"
#include "core/knob/knob.hpp"
#include "core/sqlite/set_aside.hpp"

namespace koord::knob {
namespace {

using sqlite::Connection;
using sqlite::Statement;

constexpr std::int64_t kJournalApplicationId = 0x6b6f6f6f;  // "kooo"
constexpr std::string_view kName = "originals.db";
constexpr std::size_t kMostNamed = 5;

// Why a file cannot be used: a word for its new name, and a sentence.
struct JournalFault {
  std::string word, story;
};

// This connection calls fsync only for a durable transaction, which a knob's first write needs. It makes no
// checkpoints: Journal::tidy() copies the log into the file through a different connection.
Result<void> set_modes(Connection& connection) {
  return connection.execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-512; PRAGMA wal_autocheckpoint=0;"
      "PRAGMA journal_size_limit=4194304; PRAGMA temp_store=MEMORY;");
}

Result<std::optional<JournalFault>> journal_fault_of(Connection& connection) {
  const std::int64_t application = TRY(connection.integer("PRAGMA application_id"));
  if (application != kJournalApplicationId)
    return std::optional(JournalFault{"foreign", "it belongs to another program"});
  const std::int64_t version = TRY(connection.integer("PRAGMA user_version"));
  if (version != kJournalVersion)
    return std::optional(
        JournalFault{version > kJournalVersion ? "newer-version" : "older-version",
                     "its version is " + std::to_string(version) + ", expected " + std::to_string(kJournalVersion)});
  Statement check = TRY(connection.prepare("PRAGMA integrity_check(1)"));
  TRY(check.step());
  if (check.text(0) != "ok") return std::optional(JournalFault{"corrupt", std::string(check.text(0))});
  return std::optional<JournalFault>();
}

Result<std::optional<JournalFault>> find_journal_fault(Connection& connection) {
  TRY(set_modes(connection));
  const std::int64_t pages = TRY(connection.integer("PRAGMA page_count"));
  const std::int64_t tables = TRY(connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (pages > 1 || tables > 0) return journal_fault_of(connection);
  TRY(connection.execute("BEGIN IMMEDIATE;" + std::string(kJournalTables) +
                         "PRAGMA application_id=" + std::to_string(kJournalApplicationId) +
                         ";PRAGMA user_version=" + std::to_string(kJournalVersion) + ";COMMIT;"));
  return std::optional<JournalFault>();
}

}  // namespace

std::string journal_path(const std::string& directory) { return directory + "/" + std::string(kName); }

std::string journal_lock_path(const std::string& directory) { return journal_path(directory) + ".lock"; }

Result<UniqueFd> lock_journal(const std::string& directory) {
  const std::string path = journal_lock_path(directory);
  Result<UniqueFd> opened = open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (!opened && opened.error().is(std::errc::read_only_file_system))
    opened = open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  UniqueFd lock = TRY(std::move(opened));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return system_error(errno, "the originals in '" + directory + "' belong to another agent that runs");
}

std::optional<std::string> journal_set_aside(const std::string& directory) {
  // Matches "originals.db.corrupt-20260102T030405Z". The log beside it does not match.
  const std::string start = std::string(kName) + ".";
  const Result<std::vector<std::string>> names = list_directory(directory);
  if (!names) return std::nullopt;
  for (const std::string& name : *names)
    if (name.starts_with(start) && name.find('-') != std::string::npos && !name.ends_with("-wal"))
      return directory + "/" + name;
  return std::nullopt;
}

Result<OpenedJournal> open_journal(const std::string& directory, std::int64_t wall_ns) {
  const std::string path = journal_path(directory);
  std::optional<JournalFault> fault;
  {
    Connection connection = TRY(Connection::open(path, Connection::Access::read_write));
    Result<std::optional<JournalFault>> found = find_journal_fault(connection);
    if (found && !*found) return OpenedJournal{std::move(connection), {}};
    if (!found && !found.error().is(std::errc::bad_message)) return std::move(found).error().context("'" + path + "'");
    fault = found ? *found : JournalFault{"corrupt", found.error().text};
  }
  const std::string loss = loss_of_journal(directory);
  const std::string aside = TRY(sqlite::set_aside(path, fault->word, wall_ns));
  return OpenedJournal{std::nullopt,
                       "'" + path + "' cannot be used: " + fault->story + "; set aside as '" + aside + "'" + loss};
}

namespace {

// Returns how many bytes of a database file are missing, by the page size and the number of pages in its header
// (sqlite.org/fileformat2.html, 1.3).
std::uint64_t missing_bytes(std::string_view content) {
  if (content.size() < 32 || !content.starts_with("SQLite format 3")) return 0;
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : content.substr(at, size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  };
  const std::uint64_t page_size = number(16, 2), pages = number(28, 4);
  const std::uint64_t whole = pages * (page_size == 1 ? 65536 : page_size);
  return whole > content.size() ? whole - content.size() : 0;
}

// Appends zeros for missing pages, because SQLite does not read a truncated file. The zeros take no room on the disk.
void pad(const std::string& path) {
  const std::string content = read_file(path).value_or("");
  std::error_code ignored;
  const std::uint64_t missing = missing_bytes(content);
  if (missing > 0 && missing <= kMaxFileBytes) std::filesystem::resize_file(path, content.size() + missing, ignored);
}

// Opens a copy of the file and its log in /dev/shm. SQLite reads a log only beside a file that it may write.
Result<Connection> open_copy(const std::string& directory) {
  std::string folder = "/dev/shm/koordetector-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return system_error(errno, "cannot make a folder in /dev/shm");
  const auto copy = [&]() -> Result<Connection> {
    for (const char* end : {"", "-wal"}) {
      const Result<std::string> content = read_file(journal_path(directory) + end);
      if (content) TRY(write_file_atomically(journal_path(folder) + end, *content, 0600));
    }
    pad(journal_path(folder));
    return Connection::open(journal_path(folder), Connection::Access::read_write);
  };
  Result<Connection> copied = copy();
  if (copied) static_cast<void>(copied->execute("SELECT 1 FROM sqlite_schema"));  // opens the log, too
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);  // the connection keeps its files open
  return copied;
}

// Returns the keys of all records before the first damaged record.
std::set<KnobKey> readable_keys(const std::string& directory) {
  std::set<KnobKey> keys;
  Result<Connection> copy = open_copy(directory);
  Result<Statement> rows =
      copy ? copy->prepare("SELECT cgroup,resource,item FROM knob") : Result<Statement>(copy.error());
  while (rows && rows->step().value_or(false)) {
    KnobKey key{std::string(rows->text(0)), std::string(rows->text(1)), std::string(rows->text(2))};
    if (find_knob(key.resource) != nullptr && cgroup::is_cgroup(key.cgroup_dir)) keys.insert(std::move(key));
  }
  return keys;
}

// Returns titles such as "cpu.max of 'be/pod1', vm.min_free_kbytes of the node and 3 more".
std::string titles_of(const std::set<KnobKey>& keys) {
  std::vector<std::string> titles;
  for (const KnobKey& key : keys) {
    if (titles.size() == kMostNamed) break;
    titles.push_back(key.resource + (key.item.empty() ? "" : " " + key.item) +
                     (key.cgroup_dir.empty() ? " of the node" : " of '" + key.cgroup_dir + "'"));
  }
  const std::size_t more = keys.size() - titles.size();
  return join(titles, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace

Result<Connection> open_copy_of_journal(const std::string& directory) {
  Connection connection = TRY(open_copy(directory));
  const std::optional<JournalFault> fault = TRY(journal_fault_of(connection));
  if (fault) return Error{std::make_error_code(std::errc::bad_message), fault->story};
  return connection;
}

std::string loss_of_journal(const std::string& directory) {
  const std::string content = read_file(journal_path(directory)).value_or("");
  const std::uint64_t missing = missing_bytes(content);
  const std::set<KnobKey> keys = readable_keys(directory);
  std::string text;
  if (missing > 0)
    text +=
        "; " + std::to_string(missing) + " of its " + std::to_string(content.size() + missing) + " bytes are missing";
  if (keys.empty())
    return text + "; none of its records is readable, so it is unknown which knobs keep a value of the previous agent";
  return text + "; " + std::to_string(keys.size()) +
         " of its records are readable and none is taken: " + titles_of(keys) +
         " may keep a value of the previous agent";
}

}  // namespace koord::knob
