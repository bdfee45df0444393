// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include "test/hostile/raid.hpp"

namespace koord::hostile {
namespace {

constexpr std::pair<std::string_view, Rights> kNames[] = {{"root", Rights::root},
                                                          {"unit", Rights::unit},
                                                          {"chart", Rights::chart},
                                                          {"without-landlock", Rights::without_landlock},
                                                          {"without-setuid", Rights::without_setuid}};

}  // namespace

Rights rights_of(std::string_view name) {
  if (name.empty()) return Rights::root;
  for (const auto& [known, rights] : kNames)
    if (known == name) return rights;
  throw std::runtime_error("rights '" + std::string(name) +
                           "': expected root, unit, chart, without-landlock or without-setuid");
}

std::string_view lacking_layer(Rights rights) {
  if (rights == Rights::without_landlock) return "landlock";
  return rights == Rights::without_setuid ? "uid" : "";
}

std::vector<std::string> words_of(Rights rights, const std::string& folder) {
  if (rights == Rights::root) return {};
  if (rights == Rights::without_landlock) return {"/usr/bin/env", "KOORD_LANDLOCK_ABI=0"};
  for (const auto& [name, known] : kNames)
    if (known == rights) return {KOORD_WITH_RIGHTS, std::string(name), folder};
  return {};
}

std::size_t group_size(Batch batch) {
  switch (batch) {
    case Batch::quiet:
      return 16;
    case Batch::end:
      return 8;
    case Batch::lie:
      return 40;
    default:
      return 1;
  }
}

std::vector<std::vector<const Attack*>> groups_of(const std::vector<const Attack*>& attacks, std::size_t size) {
  std::vector<std::vector<const Attack*>> groups;
  for (const Attack* attack : attacks) {
    const bool is_new =
        groups.empty() || groups.back().size() == size || groups.back().front()->is_hook() != attack->is_hook();
    if (is_new) groups.emplace_back();
    groups.back().push_back(attack);
  }
  return groups;
}

}  // namespace koord::hostile
