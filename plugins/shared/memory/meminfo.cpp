// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/memory/meminfo.hpp"

#include <algorithm>
#include <string>

#include "core/base/parse.hpp"

namespace koord::memory {

Result<double> meminfo_bytes(std::string_view text, std::string_view key) {
  while (auto line = next_field(text, '\n')) {
    std::size_t at = line->find(key);
    if (at == std::string_view::npos || (at > 0 && (*line)[at - 1] != ' ')) continue;
    std::string_view rest = line->substr(at + key.size());
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    std::optional<std::string_view> number = next_word(rest);
    if (!number) break;
    return static_cast<double>(TRY(parse_uint(*number))) * 1024;
  }
  return not_found("no line '" + std::string(key) + "' in meminfo");
}

Result<double> used_with_page_cache_bytes(std::string_view text) {
  const double total = TRY(meminfo_bytes(text, "MemTotal"));
  const double free = TRY(meminfo_bytes(text, "MemFree"));
  return std::max(total - free, 0.0);
}

}  // namespace koord::memory
