// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/host_time.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::agentd {
namespace {

// The largest valid offset, which is in the year 2191. Its sum with any uptime does not overflow.
constexpr std::int64_t kMostOffsetNs = 7'000'000'000'000'000'000;

std::optional<Duration> kept_offset(const std::string& path, std::string_view boot) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const auto of_boot = next_word(rest);
  const Result<std::int64_t> offset = parse_int(trim(rest));
  if (of_boot != boot || !offset || *offset < 0 || *offset > kMostOffsetNs) return std::nullopt;
  return Duration(*offset);
}

}  // namespace

std::unique_ptr<SystemClock> clock_of_boot(const std::string& directory, const std::string& boot, Time not_before) {
  if (directory.empty() || boot.empty()) return std::make_unique<SystemClock>(not_before);
  const std::string path = directory + "/host-time";
  const std::optional<Duration> kept = kept_offset(path, boot);
  auto clock = std::make_unique<SystemClock>(not_before, kept);
  if (kept == clock->offset()) return clock;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), ignored);
  ::mkdir(directory.c_str(), 0700);
  // If the file cannot be written, a later start uses the wall clock, as after a boot.
  static_cast<void>(write_file_atomically(path, boot + " " + std::to_string(clock->offset().count()) + "\n"));
  return clock;
}

}  // namespace koord::agentd
