// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/key_sets.hpp"

namespace koord::cgroup {

KeySets::Set& KeySets::take(Keys keys) {
  const Format format = keys.first;
  auto [at, is_new] = sets_.try_emplace(std::move(keys), Set{nullptr, Extraction(format)});
  Set& set = at->second;
  if (is_new) {
    set.keys = &at->first;
    const std::vector<WantedKey>& wanted = at->first.second;
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      const WantedKey& key = wanted[place];
      if (key.users > 0) set.extraction.add({key.word, 0, key.kernel_key, key.conversion}, place);
    }
  }
  ++set.files;
  return set;
}

void KeySets::release(const Set& set) {
  auto at = sets_.find(*set.keys);
  if (--at->second.files == 0) sets_.erase(at);
}

}  // namespace koord::cgroup
