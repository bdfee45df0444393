// SPDX-License-Identifier: Apache-2.0
// Told: remembers reported states, so that a state that lasts is reported once and not each round. Header-only. [one
// thread]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace koord {

class Told {
 public:
  // Returns whether to report this now: the last report about `about` was another, or none.
  bool is_news(std::string_view about, std::string_view what) {
    auto known = said_.find(about);
    if (known == said_.end()) return said_.emplace(about, what), true;
    if (known->second == what) return false;
    known->second = what;
    return true;
  }
  // The state is over: when it comes back, it is reported again. True if there was one.
  bool is_over(std::string_view about) {
    auto known = said_.find(about);
    if (known == said_.end()) return false;
    said_.erase(known);
    return true;
  }
  // Forgets the states for which `keeps(about)` is false.
  template <class Keeps>
  void keep(Keeps&& keeps) {
    std::erase_if(said_, [&](const auto& said) { return !keeps(said.first); });
  }

 private:
  std::map<std::string, std::string, std::less<>> said_;
};

}  // namespace koord
