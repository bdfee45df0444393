// SPDX-License-Identifier: Apache-2.0
#include "core/sqlite/set_aside.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/timestamp.hpp"

namespace koord::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

// Returns the time of a name. Names end in their time, "…-20260102T030405Z", which ".2" or "-wal" may follow.
std::string time_in(const std::string& name) { return name.substr(name.rfind('-', name.rfind('T')) + 1); }

bool is_set_aside(const std::string& name, const std::string& base) {
  return name.starts_with(base + ".") && name.find('T') != std::string::npos && !name.ends_with("-wal");
}

void remove_old(const fs::path& path) {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored)) {
    std::string name = entry.path().filename().string();
    if (is_set_aside(name, path.filename().string())) names.push_back(name);
  }
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return time_in(a) > time_in(b); });
  for (std::size_t i = kKept; i < names.size(); ++i) {
    fs::remove(path.parent_path() / names[i], ignored);
    fs::remove(path.parent_path() / (names[i] + "-wal"), ignored);
  }
}

}  // namespace

Result<std::string> set_aside(const std::string& path, const std::string& reason, std::int64_t wall_ns) {
  const std::string base = path + "." + reason + "-" + format_timestamp_for_file(wall_ns / 1'000'000'000);
  std::string aside = base;
  std::error_code error;
  for (int n = 2; fs::exists(aside, error); ++n) aside = base + "." + std::to_string(n);
  fs::rename(path, aside, error);
  if (error) return system_error(error.value(), "cannot rename '" + path + "' to '" + aside + "'");
  fs::rename(path + "-wal", aside + "-wal", error);
  fs::remove(path + "-shm", error);
  remove_old(fs::absolute(path, error));
  return aside;
}

}  // namespace koord::sqlite
