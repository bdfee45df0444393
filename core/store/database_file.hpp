// SPDX-License-Identifier: Apache-2.0
// The database file itself: its tables, its version, and opening it so that there is a sound one afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"

namespace koord::store {

// The format of the file; incremented by a change that older programs cannot read.
inline constexpr std::int64_t kFileVersion = 1;

struct OpenedFile {
  sqlite::Connection connection;
  std::string report;  // findings and actions, a sentence per line; empty when all was well
};

// Opens the file for writing, or begins one. A file that is corrupt, of a newer version, another program's, or has an
// overlong write-ahead log is set aside. Errors are the disk's: full, read-only, unreadable, no such directory.
// The write-ahead log may grow to this size while another program reads the file; then samples stay in memory until it
// ends. Without a reader the log has 4 MiB.
std::uint64_t most_log_bytes(std::uint64_t max_bytes);
// Returns the bytes of the log beside the file; 0 without one.
std::uint64_t log_bytes(const std::string& path);
Error log_too_long(const std::string& path, std::uint64_t bytes);

Result<OpenedFile> open_database(const std::string& path, std::uint64_t max_bytes, std::int64_t wall_ns);

}  // namespace koord::store
