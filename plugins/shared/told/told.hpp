// SPDX-License-Identifier: Apache-2.0
// Told: what has been said already, so that a state that lasts is said once and not each round. Header-only. [one thread]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace koord {

class Told {
 public:
  // Whether this is to be said now: of `about` something else was said last, or nothing.
  bool is_news(std::string_view about, std::string_view what) {
    auto known = said_.find(about);
    if (known == said_.end()) return said_.emplace(about, what), true;
    if (known->second == what) return false;
    known->second = what;
    return true;
  }
  // There is nothing to say about it any more: when it comes back, it is news. True when there was.
  bool is_over(std::string_view about) {
    auto known = said_.find(about);
    if (known == said_.end()) return false;
    said_.erase(known);
    return true;
  }
  // Of what `keeps(about)` is false for nothing is remembered.
  template <class Keeps>
  void keep(Keeps&& keeps) {
    std::erase_if(said_, [&](const auto& said) { return !keeps(said.first); });
  }

 private:
  std::map<std::string, std::string, std::less<>> said_;
};

}  // namespace koord
