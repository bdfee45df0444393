// SPDX-License-Identifier: Apache-2.0
// The journal's file itself: one SQLite database of one table, opened so that it is sound, or set aside with its
// reason. Only one process has it at a time. [one thread at a time]
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::knob {

// Raised when an older program could not read a file of a newer one.
inline constexpr std::int64_t kJournalVersion = 1;

std::string journal_path(const std::string& directory);
// Returns the path of the file that lock_journal() locks.
std::string journal_lock_path(const std::string& directory);

// Holds the journal of this folder until the descriptor is closed. Fails if another process holds it.
Result<UniqueFd> lock_journal(const std::string& directory);

// A file of this folder that was set aside: it may have the only copy of originals. nullopt: none.
std::optional<std::string> journal_set_aside(const std::string& directory);

struct OpenedJournal {
  std::optional<sqlite::Connection> connection;  // nullopt: the file was set aside
  std::string story;                             // why and as what
};
// Opens the file, or begins one; the folder is there. Errors are the disk's: full, read-only, unreadable.
Result<OpenedJournal> open_journal(const std::string& directory, std::int64_t wall_ns);
// Where it cannot be opened, for the disk is full or read-only: a copy of it in memory, to read.
Result<sqlite::Connection> open_copy_of_journal(const std::string& directory);

// Describes an unusable file before it is set aside: its missing bytes, and the knobs with originals in it.
std::string loss_of_journal(const std::string& directory);

}  // namespace koord::knob
