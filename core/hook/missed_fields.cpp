// SPDX-License-Identifier: Apache-2.0
#include "core/hook/missed_fields.hpp"

#include <algorithm>
#include <iterator>

#include "core/hook/creation.hpp"

namespace koord::hook {

void MissedFields::check(const std::string& plugin, const state::Pod& pod, const state::Container& container,
                         const std::vector<std::string>& fields) {
  if (fields.empty() || container.id.empty()) return;
  std::vector<std::string> missing;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(missing),
               [&](const std::string& field) { return !parts_.creations.has_field(pod, container, field); });
  const bool is_exempt = missing.empty() || !parts_.is_enforced(plugin) || !why_bypassed(pod, parts_.own_uid).empty() ||
                         is_hands_off(pod, plugin);
  if (is_exempt) return;
  const Key key{plugin, container.handle};
  const auto before = before_.find(key);
  if (before == before_.end() || before->second != missing) parts_.report({plugin, pod, container, missing});
  now_.insert_or_assign(key, std::move(missing));
}

std::map<std::string, std::size_t> MissedFields::end() {
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, fields] : before_) counts.try_emplace(key.first, 0);
  for (const auto& [key, fields] : now_) ++counts[key.first];
  before_ = std::exchange(now_, {});
  return counts;
}

}  // namespace koord::hook
