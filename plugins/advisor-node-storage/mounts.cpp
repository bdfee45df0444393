// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-storage/mounts.hpp"

#include <optional>

#include "core/base/parse.hpp"

namespace koord::node_storage {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Parses "36 35 98:0 /root /point rw,noatime [optional fields] - ext4 /dev/root rw".
std::optional<Mount> parse_line(std::string_view line) {
  std::string_view fields[6];
  for (std::string_view& field : fields) {
    const auto next = next_field(line, ' ');
    if (!next) return std::nullopt;
    field = *next;
  }
  while (const auto optional_field = next_field(line, ' ')) {
    if (*optional_field != "-") continue;
    const auto type = next_field(line, ' '), source = next_field(line, ' ');
    if (!type || !source) return std::nullopt;
    return Mount{std::string(fields[2]), unescape_octal(fields[4]), unescape_octal(*source)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (const auto line = next_field(text, '\n')) {
    if (auto mount = parse_line(*line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

std::string unescape_octal(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace koord::node_storage
