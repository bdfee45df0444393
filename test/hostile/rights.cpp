// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "test/hostile/raid.hpp"

namespace koord::hostile {

Rights rights_of(std::string_view name) {
  if (name.empty() || name == "root") return Rights::root;
  if (name == "unit") return Rights::unit;
  if (name == "chart") return Rights::chart;
  throw std::runtime_error("rights '" + std::string(name) + "': expected root, unit or chart");
}

std::vector<std::string> words_of(Rights rights, const std::string& folder) {
  if (rights == Rights::root) return {};
  return {KOORD_WITH_RIGHTS, rights == Rights::unit ? "unit" : "chart", folder};
}

std::size_t group_size(Batch batch) {
  switch (batch) {
    case Batch::quiet: return 16;
    case Batch::end: return 8;
    case Batch::lie: return 40;
    default: return 1;
  }
}

std::vector<std::vector<const Attack*>> groups_of(const std::vector<const Attack*>& attacks, std::size_t size) {
  std::vector<std::vector<const Attack*>> groups;
  for (const Attack* attack : attacks) {
    if (groups.empty() || groups.back().size() == size) groups.emplace_back();
    groups.back().push_back(attack);
  }
  return groups;
}

}  // namespace koord::hostile
