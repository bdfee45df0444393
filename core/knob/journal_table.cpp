// SPDX-License-Identifier: Apache-2.0
#include "core/knob/journal_table.hpp"

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"

namespace koord::knob {

using sqlite::Connection;
using sqlite::Statement;

namespace {

// Separators of a knob's texts in one column: characters that no kernel file has.
constexpr char kFileEnd = '\x1f', kTextsEnd = '\x1e';

std::string joined(const Texts& texts) { return join(texts, std::string_view(&kFileEnd, 1)); }

// Splits the text at each `end`. n ends make n + 1 parts; the last part may be empty.
std::vector<std::string> parts_of(std::string_view text, char end) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(end);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string joined(const std::vector<Texts>& all) {
  std::vector<std::string> parts;
  parts.reserve(all.size());
  for (const Texts& texts : all) parts.push_back(joined(texts));
  return join(parts, std::string_view(&kTextsEnd, 1));
}

std::vector<Texts> apart(std::string_view text) {
  std::vector<Texts> all;
  for (const std::string& part : parts_of(text, kTextsEnd)) all.push_back(parts_of(part, kFileEnd));
  return all;
}

Result<Original> original_in(const Statement& row) {
  const std::int64_t level = row.integer(4);
  if (level < 0 || level > static_cast<std::int64_t>(decision::Level::node))
    return Error{std::make_error_code(std::errc::bad_message), "it has a knob of level " + std::to_string(level)};
  if (!cgroup::is_cgroup(row.text(0)))
    return Error{std::make_error_code(std::errc::bad_message),
                 "it has a knob of '" + std::string(row.text(0)) + "', which is no cgroup"};
  std::vector<Texts> ours = apart(row.text(7));
  Texts written = std::move(ours.front());
  ours.erase(ours.begin());
  return Original{.key = {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2))},
                  .level = static_cast<decision::Level>(level),
                  .knob = std::string(row.text(3)),
                  .cgroup = static_cast<std::uint64_t>(row.integer(5)),
                  .texts = parts_of(row.text(6), kFileEnd),
                  .written = std::move(written),
                  .asked = std::move(ours),
                  .plugin = std::string(row.text(8)),
                  .ttl = Duration(row.integer(9))};
}

}  // namespace

const char* const kJournalTables =
    "CREATE TABLE knob(cgroup TEXT NOT NULL, resource TEXT NOT NULL, item TEXT NOT NULL, name TEXT NOT NULL, level INTEGER NOT NULL,"
    " inode INTEGER NOT NULL, original TEXT NOT NULL, ours TEXT NOT NULL, plugin TEXT NOT NULL, ttl_ns INTEGER NOT NULL,"
    " boot TEXT NOT NULL, saved_ms INTEGER NOT NULL, PRIMARY KEY(cgroup, resource, item)) WITHOUT ROWID;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;";

Result<JournalContent> read_journal(Connection& connection, const std::string& boot) {
  Statement rows = TRY(
      connection.prepare("SELECT cgroup,resource,item,name,level,inode,original,ours,plugin,ttl_ns,boot FROM knob"));
  JournalContent content;
  for (;;) {
    const bool is_row = TRY(rows.step());
    if (!is_row) return content;
    if (rows.text(10) == boot)
      content.knobs.push_back(TRY(original_in(rows)));
    else
      ++content.of_other_boots;
  }
}

Result<JournalTable> JournalTable::make(Connection connection) {
  Statement insert = TRY(connection.prepare("INSERT OR REPLACE INTO knob VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"));
  Statement remove = TRY(connection.prepare("DELETE FROM knob WHERE cgroup=? AND resource=? AND item=?"));
  return JournalTable(std::move(connection), std::move(insert), std::move(remove));
}

Result<void> JournalTable::transact(bool durable, const std::function<Result<void>()>& change) {
  TRY(connection_.execute(durable ? "PRAGMA synchronous=FULL; BEGIN IMMEDIATE"
                                  : "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE"));
  Result<void> done = change();
  if (done) done = connection_.execute("COMMIT");
  if (!done) static_cast<void>(connection_.execute("ROLLBACK"));  // its error would say less than `done`
  return done;
}

Result<void> JournalTable::put(const Original& knob, const std::string& boot, std::int64_t wall_ms) {
  std::vector<Texts> all_ours{knob.written};
  all_ours.insert(all_ours.end(), knob.asked.begin(), knob.asked.end());
  const std::string texts = joined(knob.texts), ours = joined(all_ours);
  insert_.bind_text(1, knob.key.cgroup_dir)
      .bind_text(2, knob.key.resource)
      .bind_text(3, knob.key.item)
      .bind_text(4, knob.knob);
  insert_.bind(5, static_cast<std::int64_t>(knob.level))
      .bind(6, static_cast<std::int64_t>(knob.cgroup))
      .bind_text(7, texts);
  insert_.bind_text(8, ours).bind_text(9, knob.plugin).bind(10, static_cast<std::int64_t>(knob.ttl.count()));
  return insert_.bind_text(11, boot).bind(12, wall_ms).run();
}

Result<void> JournalTable::erase(const KnobKey& key) {
  return remove_.bind_text(1, key.cgroup_dir).bind_text(2, key.resource).bind_text(3, key.item).run();
}

Result<void> JournalTable::clear() { return connection_.execute("DELETE FROM knob"); }

std::int64_t JournalTable::meta(const std::string& key) {
  return connection_.integer("SELECT value FROM meta WHERE key='" + key + "'").value_or(0);
}

Result<void> JournalTable::set_meta(const std::string& key, std::int64_t value) {
  return connection_.execute("INSERT OR REPLACE INTO meta VALUES('" + key + "'," + std::to_string(value) + ")");
}

}  // namespace koord::knob
