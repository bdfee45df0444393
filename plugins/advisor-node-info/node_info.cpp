// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-info/node_info.hpp"

#include <algorithm>
#include <set>

#include "core/base/parse.hpp"

namespace koord::node_info {

CpuCounts count(const std::vector<Processor>& processors) {
  std::map<std::int32_t, std::size_t> threads_of;
  std::set<std::int32_t> sockets;
  CpuCounts counts{.cpus = processors.size()};
  for (const Processor& processor : processors) {
    counts.threads_per_core = std::max(counts.threads_per_core, ++threads_of[processor.core]);
    sockets.insert(processor.socket);
  }
  counts.cores = threads_of.size();
  counts.sockets = sockets.size();
  return counts;
}

void number_sockets_and_cores(std::vector<Processor>& processors) {
  std::map<std::int32_t, std::int32_t> sockets;
  std::int32_t next_core = 0;
  for (const Processor& processor : processors) next_core = std::max(next_core, processor.core + 1);
  for (Processor& processor : processors) {
    processor.socket = sockets.try_emplace(processor.socket, static_cast<std::int32_t>(sockets.size())).first->second;
    if (processor.core < 0) processor.core = next_core++;
  }
}

bool has_threads(const CpuFacts& facts) { return facts.smt.value_or(count(facts.processors).threads_per_core > 1); }

Meminfo parse_meminfo(std::string_view text) {
  Meminfo meminfo;
  while (std::optional<std::string_view> line = next_field(text, '\n')) {
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view key = line->substr(0, colon), value = line->substr(colon + 1);
    if (const std::size_t space = key.rfind(' '); space != std::string_view::npos) key.remove_prefix(space + 1);
    const Result<std::uint64_t> number = parse_uint(next_word(value).value_or(""));
    if (number && !key.empty()) meminfo.insert_or_assign(std::string(key), *number);
  }
  return meminfo;
}

std::optional<std::uint64_t> parse_hugepages_name(std::string_view name) {
  constexpr std::string_view kPrefix = "hugepages-", kUnit = "kB";
  if (!name.starts_with(kPrefix) || !name.ends_with(kUnit) || name.size() <= kPrefix.size() + kUnit.size())
    return std::nullopt;
  const Result<std::uint64_t> size =
      parse_uint(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kUnit.size()));
  return size ? std::optional(*size) : std::nullopt;
}

std::string page_size_name(std::uint64_t size_kib) {
  if (size_kib > 0 && size_kib % (1u << 20) == 0) return std::to_string(size_kib >> 20) + "Gi";
  if (size_kib > 0 && size_kib % (1u << 10) == 0) return std::to_string(size_kib >> 10) + "Mi";
  return std::to_string(size_kib) + "Ki";
}

}  // namespace koord::node_info
