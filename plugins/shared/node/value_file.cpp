// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node/value_file.hpp"

#include <unistd.h>

#include <climits>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::node {
namespace {

// Size limit; no file with a single value is larger.
constexpr std::size_t kMaxBytes = 1u << 20;

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxBytes);
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  std::optional<std::string> text = read_text(path);
  if (!text) return std::nullopt;
  Result<std::int64_t> number = parse_int(*text);
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<CpuSet> read_set(const std::string& path) {
  std::optional<std::string> text = read_text(path);
  if (!text) return std::nullopt;
  Result<CpuSet> set = CpuSet::parse(*text);
  return set ? std::optional(*std::move(set)) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& directory) { return list_directory(directory).value_or({}); }

std::optional<std::string> link_name(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return std::nullopt;
  const std::string_view text(target, static_cast<std::size_t>(length));
  return std::string(text.substr(text.rfind('/') + 1));
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace koord::node
