// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/parse.hpp"
#include "core/sqlite/connection.hpp"
#include "core/sqlite/set_aside.hpp"

namespace koord::decision {
namespace {

using sqlite::Connection;
using sqlite::Statement;

constexpr std::int64_t kApplicationId = 0x6b6f6f64;  // "kood"
constexpr std::int64_t kVersion = 3;
constexpr std::uint64_t kPageBytes = 4096;
// The write-ahead log may use 1/8 of the size limit, and one transaction 1/32.
constexpr std::uint64_t kLogShare = 8, kBatchShare = 32;

constexpr const char* kTable =
    "CREATE TABLE decision(number INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL, plugin TEXT NOT NULL,"
    " strategy TEXT NOT NULL, cgroup TEXT NOT NULL, knob TEXT NOT NULL, pod_uid TEXT NOT NULL, namespace TEXT NOT NULL,"
    " pod TEXT NOT NULL, container TEXT NOT NULL, level INTEGER NOT NULL, priority INTEGER NOT NULL, reason TEXT NOT NULL,"
    " inputs BLOB NOT NULL, before TEXT NOT NULL, wanted TEXT NOT NULL, after TEXT NOT NULL, outcome TEXT NOT NULL,"
    " winner TEXT NOT NULL, problem TEXT NOT NULL, role INTEGER NOT NULL DEFAULT 0, composition TEXT NOT NULL DEFAULT '',"
    " kind TEXT NOT NULL DEFAULT 'knob');";

// Upgrades version 1, which had no parts of values.
constexpr const char* kFromVersion1 =
    "BEGIN IMMEDIATE; ALTER TABLE decision ADD COLUMN role INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE decision ADD COLUMN composition TEXT NOT NULL DEFAULT ''; PRAGMA user_version=2; COMMIT;";

// Upgrades version 2, where an eviction had the knob "eviction".
constexpr const char* kFromVersion2 =
    "BEGIN IMMEDIATE; ALTER TABLE decision ADD COLUMN kind TEXT NOT NULL DEFAULT 'knob';"
    "UPDATE decision SET kind = 'eviction', knob = '' WHERE knob = 'eviction'; UPDATE decision SET kind = 'mode' WHERE outcome = 'switched';"
    "PRAGMA user_version=3; COMMIT;";

constexpr const char* kInsert =
    "INSERT OR REPLACE INTO decision VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kFind =
    "SELECT * FROM decision WHERE number < ?1 AND wall_ns BETWEEN ?2 AND ?3 AND (?4 = '' OR ?4 IN (pod_uid, pod, namespace || '/' || pod))"
    " AND (?5 = '' OR cgroup = ?5 OR substr(cgroup, 1, length(?5) + 1) = ?5 || '/') AND (?6 = '' OR knob = ?6)"
    " AND (?7 = '' OR plugin = ?7) AND (?8 = '' OR outcome = ?8) AND (?9 = '' OR kind = ?9) ORDER BY number DESC LIMIT ?10";

// Returns names and values, each ended by a NUL. Neither can contain a NUL.
std::string packed(const std::vector<std::pair<std::string, std::string>>& inputs) {
  std::string text;
  for (const auto& [name, value] : inputs) {
    text.append(name.c_str()).push_back('\0');
    text.append(value.c_str()).push_back('\0');
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> unpacked(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> inputs;
  while (auto name = next_field(text, '\0')) {
    const auto value = next_field(text, '\0');
    if (!value) break;  // after the last value the name is empty
    inputs.emplace_back(*name, *value);
  }
  return inputs;
}

Decision decision_of(const Statement& row) {
  Decision decision;
  decision.number = static_cast<std::uint64_t>(row.integer(0));
  decision.time = Time(Duration(row.integer(1)));
  decision.wall_ns = row.integer(2);
  std::string* const texts[] = {&decision.plugin,  &decision.strategy,      &decision.cgroup_dir, &decision.knob,
                                &decision.pod_uid, &decision.pod_namespace, &decision.pod_name,   &decision.container};
  for (int i = 0; i < 8; ++i) *texts[i] = row.text(3 + i);
  decision.level =
      static_cast<Level>(std::clamp<std::int64_t>(row.integer(11), 0, static_cast<std::int64_t>(Level::node)));
  decision.priority = static_cast<std::int32_t>(row.integer(12));
  decision.reason = row.text(13);
  decision.inputs = unpacked(row.blob(14));
  decision.before = row.text(15);
  decision.wanted = row.text(16);
  decision.after = row.text(17);
  decision.outcome = parse_outcome(row.text(18)).value_or(Outcome::off);
  decision.winner = row.text(19);
  decision.problem = row.text(20);
  decision.role =
      static_cast<Role>(std::clamp<std::int64_t>(row.integer(21), 0, static_cast<std::int64_t>(Role::floor)));
  decision.composition = row.text(22);
  decision.kind = parse_decision_kind(row.text(23)).value_or(DecisionKind::knob);
  return decision;
}

std::size_t size_of(const Decision& decision) {
  std::size_t bytes = 256;  // an estimate of the rest of the row, with all names
  for (const std::string* text : {&decision.cgroup_dir, &decision.reason, &decision.before, &decision.wanted,
                                  &decision.after, &decision.problem, &decision.composition})
    bytes += text->size();
  for (const auto& [name, value] : decision.inputs) bytes += name.size() + value.size() + 2;
  return bytes;
}

// The reason why a file is unusable: a word for its new name, and a full sentence.
struct DecisionFault {
  std::string word, story;
};

Result<std::optional<DecisionFault>> decision_fault_of(Connection& connection) {
  const std::int64_t application = TRY(connection.integer("PRAGMA application_id"));
  if (application != kApplicationId) return std::optional(DecisionFault{"foreign", "it belongs to another program"});
  std::int64_t version = TRY(connection.integer("PRAGMA user_version"));
  if (version == 1) {
    TRY(connection.execute(kFromVersion1));
    version = 2;
  }
  if (version == 2) {
    TRY(connection.execute(kFromVersion2));
    version = kVersion;
  }
  if (version != kVersion)
    return std::optional(
        DecisionFault{version > kVersion ? "newer-version" : "older-version",
                      "its version is " + std::to_string(version) + ", expected " + std::to_string(kVersion)});
  TRY(connection.integer("SELECT count(number) FROM decision"));
  return std::optional<DecisionFault>();
}

Result<std::optional<DecisionFault>> find_decision_fault(Connection& connection, std::uint64_t log_bytes) {
  const std::int64_t tables = TRY(connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0)
    TRY(connection.execute("PRAGMA page_size=" + std::to_string(kPageBytes) + "; PRAGMA auto_vacuum=INCREMENTAL;"));
  TRY(connection.execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-512; PRAGMA temp_store=MEMORY;"
      "PRAGMA wal_autocheckpoint=" +
      std::to_string(std::max<std::uint64_t>(log_bytes / 2 / kPageBytes, 8)) +
      ";PRAGMA journal_size_limit=" + std::to_string(log_bytes / 2) + ";"));
  if (tables > 0) return decision_fault_of(connection);
  TRY(connection.execute("BEGIN IMMEDIATE;" + std::string(kTable) +
                         "PRAGMA application_id=" + std::to_string(kApplicationId) +
                         ";PRAGMA user_version=" + std::to_string(kVersion) + ";COMMIT;"));
  return std::optional<DecisionFault>();
}

}  // namespace

DecisionFile::DecisionFile(std::unique_ptr<Connection> connection, std::uint64_t max_bytes)
    : connection_(std::move(connection)), max_bytes_(max_bytes) {}

DecisionFile::~DecisionFile() = default;

Result<std::unique_ptr<DecisionFile>> DecisionFile::open(const std::string& path, std::uint64_t max_bytes,
                                                         std::int64_t wall_ns, std::string& set_aside_note) {
  std::error_code ignored;  // if this fails, opening the file reports the error
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  for (bool again : {true, false}) {
    DecisionFault fault;
    {
      Connection connection = TRY(Connection::open(path, Connection::Access::read_write));
      Result<std::optional<DecisionFault>> found = find_decision_fault(connection, max_bytes / kLogShare);
      if (!found && !found.error().is(std::errc::bad_message))
        return std::move(found).error().context("'" + path + "'");
      if (found && !*found)
        return std::unique_ptr<DecisionFile>(
            new DecisionFile(std::make_unique<Connection>(std::move(connection)), max_bytes));
      fault = found ? **found : DecisionFault{"corrupt", found.error().text};
    }
    const std::string aside = TRY(sqlite::set_aside(path, fault.word, wall_ns));
    set_aside_note =
        "'" + path + "' cannot be used: " + fault.story + "; set aside as '" + aside + "', a new one is created";
    if (!again) break;
  }
  return Error{std::make_error_code(std::errc::io_error), "'" + path + "' cannot be used even when new"};
}

Result<void> DecisionFile::write(std::span<const Decision> decisions) {
  while (!decisions.empty()) {
    std::size_t count = 0, bytes = 0;
    while (count < decisions.size() && (count == 0 || bytes + size_of(decisions[count]) <= max_bytes_ / kBatchShare))
      bytes += size_of(decisions[count++]);
    TRY(insert(decisions.first(count)));
    TRY(make_room());
    decisions = decisions.subspan(count);
  }
  return {};
}

Result<void> DecisionFile::insert(std::span<const Decision> decisions) {
  TRY(connection_->execute("BEGIN IMMEDIATE"));
  auto insert_all = [&]() -> Result<void> {
    Statement statement = TRY(connection_->prepare(kInsert));
    for (const Decision& one : decisions) {
      const std::string inputs = packed(one.inputs);
      statement.bind(1, static_cast<std::int64_t>(one.number))
          .bind(2, one.time.time_since_epoch().count())
          .bind(3, one.wall_ns);
      int at = 4;
      for (const std::string* text : {&one.plugin, &one.strategy, &one.cgroup_dir, &one.knob, &one.pod_uid,
                                      &one.pod_namespace, &one.pod_name, &one.container})
        statement.bind_text(at++, *text);
      statement.bind(12, static_cast<std::int64_t>(one.level))
          .bind(13, std::int64_t{one.priority})
          .bind_text(14, one.reason);
      statement.bind_blob(15, inputs).bind_text(16, one.before).bind_text(17, one.wanted).bind_text(18, one.after);
      statement.bind_text(19, name_of(one.outcome)).bind_text(20, one.winner).bind_text(21, one.problem);
      statement.bind(22, static_cast<std::int64_t>(one.role))
          .bind_text(23, one.composition)
          .bind_text(24, name_of(one.kind));
      TRY(statement.run());
    }
    return {};
  };
  Result<void> done = insert_all();
  if (done) done = connection_->execute("COMMIT");
  if (!done) (void)connection_->execute("ROLLBACK");
  return done;
}

Result<std::uint64_t> DecisionFile::used_bytes() {
  const std::int64_t pages = TRY(connection_->integer("PRAGMA page_count"));
  const std::int64_t free = TRY(connection_->integer("PRAGMA freelist_count"));
  return static_cast<std::uint64_t>(pages - free) * kPageBytes;
}

// Deletes the oldest sixteenth of the decisions until there is room. Shrinks the file only if it is above its limit,
// after the limit was lowered.
Result<void> DecisionFile::make_room() {
  const std::uint64_t most = max_bytes_ - max_bytes_ / kLogShare;
  for (int rounds = 0; rounds < 256; ++rounds) {
    const std::uint64_t used = TRY(used_bytes());
    if (used <= most - most / 16) break;
    TRY(connection_->execute(
        "DELETE FROM decision WHERE number <= (SELECT number FROM decision ORDER BY number LIMIT 1 OFFSET"
        " (SELECT count(*) / 16 FROM decision))"));
  }
  const std::uint64_t file = TRY(bytes());
  if (file > most)
    return connection_->execute("PRAGMA incremental_vacuum(" + std::to_string((file - most) / kPageBytes + 1) + ")");
  return {};
}

Result<DecisionPage> DecisionFile::find(const DecisionQuery& query) {
  Statement statement = TRY(connection_->prepare(kFind));
  const std::string_view outcome = query.outcome ? name_of(*query.outcome) : std::string_view();
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  statement.bind(1, static_cast<std::int64_t>(std::min(query.before, most)))
      .bind(2, query.since_ns)
      .bind(3, query.until_ns);
  statement.bind_text(4, query.pod)
      .bind_text(5, query.cgroup)
      .bind_text(6, query.knob)
      .bind_text(7, query.plugin)
      .bind_text(8, outcome);
  statement.bind_text(9, query.kind ? name_of(*query.kind) : std::string_view());
  statement.bind(10, static_cast<std::int64_t>(query.limit) + 1);
  DecisionPage page;
  while (TRY(statement.step())) {
    page.has_older = page.decisions.size() == query.limit;
    if (!page.has_older) page.decisions.push_back(decision_of(statement));
  }
  std::reverse(page.decisions.begin(), page.decisions.end());
  return page;
}

Result<std::uint64_t> DecisionFile::last_number() {
  return static_cast<std::uint64_t>(TRY(connection_->integer("SELECT coalesce(max(number), 0) FROM decision")));
}

Result<std::uint64_t> DecisionFile::bytes() {
  return static_cast<std::uint64_t>(TRY(connection_->integer("PRAGMA page_count"))) * kPageBytes;
}

}  // namespace koord::decision
