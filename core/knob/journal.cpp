// SPDX-License-Identifier: Apache-2.0
#include "core/knob/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/journal_file.hpp"
#include "core/knob/journal_table.hpp"
#include "core/sqlite/set_aside.hpp"

namespace koord::knob {
namespace {

using sqlite::Connection;

constexpr std::int64_t kLongLogBytes = 1 << 20;
constexpr std::int64_t kMostStarts = 1 << 20;  // more are not counted

void sync_directory(const std::string& path) {
  if (Result<UniqueFd> directory = open_directory(path)) ::fsync(directory->get());
}

}  // namespace

std::string boot_id(const NodeRoots& roots) {
  return std::string(trim(read_file(roots.proc + "/sys/kernel/random/boot_id").value_or("")));
}

Journal::Journal(Options options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), tree_(options_.trees, options_.proc) {}

Journal::~Journal() = default;

// Checks the preconditions for opening or making a file.
Result<void> Journal::blocked() const {
  if (options_.directory.empty())
    return invalid("qos.directory is not set, so the originals of knobs can be kept nowhere");
  if (const auto aside = journal_set_aside(options_.directory))
    return invalid("'" + *aside +
                   "' was set aside, and with it perhaps what knobs had before; when that is seen to, remove the file");
  return {};
}

Result<Journal::Found> Journal::open() {
  std::lock_guard lock(mutex_);
  Result<Found> found = read();
  problem_ = found ? std::string() : found.error().message();
  is_read_ = found.has_value();
  if (const Result<void> may = blocked(); !may && found) problem_ = may.error().message();
  return found;
}

Result<Journal::Found> Journal::set_aside(const Error& why) {
  kept_.clear();
  const std::string path = journal_path(options_.directory);
  const std::string loss = loss_of_journal(options_.directory);
  const std::string aside = TRY(sqlite::set_aside(path, "corrupt", clock_.wall_ns()));
  return Found{
      .left = {},
      .warnings = {"'" + path + "' cannot be used: " + why.message() + "; set aside as '" + aside + "'" + loss}};
}

// Takes over the originals of the previous agent. Locks the tree now, because a revert is written even if keep(), which
// also locks the tree, has failed.
Result<Journal::Found> Journal::adopt(JournalContent content) {
  Found found;
  if (!content.knobs.empty()) TRY(tree_.lock());
  for (const Original& knob : content.knobs) kept_.insert_or_assign(knob.key, knob);
  found.left = std::move(content.knobs);
  if (content.of_other_boots > 0)
    found.warnings.push_back(
        std::to_string(content.of_other_boots) +
        " knobs had values of ours before the node was started again, and have the kernel's own now");
  return found;
}

// Reads a copy of the file. The file does not change until it can be written.
Result<Journal::Found> Journal::read_copy(const Error& why) {
  Result<Connection> copy = open_copy_of_journal(options_.directory);
  if (!copy) return why;
  JournalContent content = TRY(read_journal(*copy, options_.boot));
  Found found = TRY(adopt(std::move(content)));
  found.warnings.push_back("the originals can be read and not written:" + why.message());
  return found;
}

Result<Journal::Found> Journal::read() {
  kept_.clear();
  if (options_.directory.empty() || ::access(journal_path(options_.directory).c_str(), F_OK) != 0) return Found{};
  if (!lock_) lock_ = TRY(lock_journal(options_.directory));
  Result<OpenedJournal> opened = open_journal(options_.directory, clock_.wall_ns());
  if (!opened) return read_copy(opened.error());
  if (!opened->connection) return Found{.left = {}, .warnings = {opened->story}};
  Result<JournalContent> content = read_journal(*opened->connection, options_.boot);
  if (!content && content.error().is(std::errc::bad_message)) {
    opened->connection.reset();
    return set_aside(content.error());
  }
  if (!content) return std::move(content).error();
  const bool has_old = content->of_other_boots > 0;
  Found found = TRY(adopt(*std::move(content)));
  file_ = std::make_unique<JournalTable>(TRY(JournalTable::make(*std::move(opened->connection))));
  // These two values may be lost. In that case, the next start is only more careful, or more patient.
  found.on_purpose = file_->meta("on_purpose") != 0;
  if (!found.left.empty() && !found.on_purpose)
    found.unsettled_starts = std::clamp<std::int64_t>(file_->meta("unsettled_starts"), 0, kMostStarts) + 1;
  set_meta("unsettled_starts", found.unsettled_starts);
  set_meta("on_purpose", 0);
  if (has_old) TRY(rewrite());
  return found;
}

void Journal::set_meta(const std::string& key, std::int64_t value) {
  if (file_) static_cast<void>(file_->set_meta(key, value));
}

void Journal::settled() {
  std::lock_guard lock(mutex_);
  set_meta("unsettled_starts", 0);
}

void Journal::release_tree() {
  std::lock_guard lock(mutex_);
  if (kept_.empty()) tree_.unlock();
}

void Journal::leave() {
  std::lock_guard lock(mutex_);
  set_meta("on_purpose", 1);
}

Result<void> Journal::note(Result<void> done) {
  problem_ = done ? std::string() : done.error().message();
  if (!done) file_.reset();  // missing records are written when the file can be opened again
  return done;
}

Result<void> Journal::ready() {
  if (!file_) {
    TRY(blocked());
    if (!is_read_) return invalid("the originals of a previous agent could not be read yet");
  }
  Result<void> locked = tree_.lock();
  is_tree_taken_ = !locked;
  if (!locked) return locked;
  return file_ ? Result<void>() : attach();
}

Result<void> Journal::attach() {
  std::error_code failed;
  const bool is_new = std::filesystem::create_directories(options_.directory, failed);
  if (failed) return system_error(failed.value(), "cannot make '" + options_.directory + "'");
  if (is_new) {
    ::chmod(options_.directory.c_str(), 0700);
    sync_directory(std::filesystem::path(options_.directory).parent_path());
  }
  if (!lock_) lock_ = TRY(lock_journal(options_.directory));
  OpenedJournal opened = TRY(open_journal(options_.directory, clock_.wall_ns()));
  if (!opened.connection) return invalid(opened.story);
  file_ = std::make_unique<JournalTable>(TRY(JournalTable::make(*std::move(opened.connection))));
  Result<void> written = rewrite();
  if (!written) file_.reset();
  sync_directory(options_.directory);
  return written;
}

// Replaces the content of the file by the kept originals.
Result<void> Journal::rewrite() {
  const std::int64_t wall_ms = clock_.wall_ns() / 1'000'000;
  return file_->transact(true, [&]() -> Result<void> {
    TRY(file_->clear());
    for (const auto& [key, knob] : kept_) TRY(file_->put(knob, options_.boot, wall_ms));
    unsaved_.clear();
    return {};
  });
}

// Writes the changes since the last save, and the originals `also`.
Result<void> Journal::save(std::span<const Original> also, bool durable) {
  const std::int64_t wall_ms = clock_.wall_ns() / 1'000'000;
  Result<void> saved = file_->transact(durable, [&]() -> Result<void> {
    for (const KnobKey& key : unsaved_) {
      const auto kept = kept_.find(key);
      TRY(kept == kept_.end() ? file_->erase(key) : file_->put(kept->second, options_.boot, wall_ms));
    }
    for (const Original& knob : also) TRY(file_->put(knob, options_.boot, wall_ms));
    return {};
  });
  if (saved) unsaved_.clear();
  return saved;
}

Result<void> Journal::keep(std::span<const Original> originals) {
  if (originals.empty()) return {};
  std::lock_guard lock(mutex_);
  if (Result<void> is_ready = ready(); !is_ready) return note(std::move(is_ready));
  const bool any_new = std::any_of(originals.begin(), originals.end(), [this](const Original& one) {
    const auto kept = kept_.find(one.key);
    return kept == kept_.end() || kept->second.cgroup != one.cgroup;
  });
  TRY(note(save(originals, any_new)));
  for (const Original& one : originals) kept_.insert_or_assign(one.key, one);
  return {};
}

void Journal::wrote(const KnobKey& key, const Texts& written) {
  std::lock_guard lock(mutex_);
  const auto kept = kept_.find(key);
  if (kept == kept_.end()) return;
  kept->second.written = written;
  kept->second.asked.clear();
  unsaved_.insert(key);
}

void Journal::forgotten(const KnobKey& key) {
  std::lock_guard lock(mutex_);
  if (kept_.erase(key) > 0) unsaved_.insert(key);
}

void Journal::flush() {
  std::lock_guard lock(mutex_);
  // If this fails, the file can still be used, because it has more records than needed, not fewer.
  if (file_ && !unsaved_.empty()) static_cast<void>(note(save({}, false)));
}

std::vector<Original> Journal::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Original> all;
  for (const auto& [key, original] : kept_) all.push_back(original);
  return all;
}

Result<void> Journal::prepare() {
  std::lock_guard lock(mutex_);
  return note(ready());
}

std::string Journal::problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

bool Journal::is_tree_taken() const {
  std::lock_guard lock(mutex_);
  return is_tree_taken_;
}

std::size_t Journal::size() const {
  std::lock_guard lock(mutex_);
  return kept_.size();
}

void Journal::tidy() {
  const std::string path = journal_path(options_.directory);
  struct stat log;
  if (::stat((path + "-wal").c_str(), &log) != 0 || log.st_size < kLongLogBytes) return;
  // A separate connection, so writers are not delayed.
  Result<Connection> connection = Connection::open(path, Connection::Access::read_write);
  if (connection) static_cast<void>(connection->execute("PRAGMA synchronous=FULL; PRAGMA wal_checkpoint(PASSIVE)"));
}

}  // namespace koord::knob
