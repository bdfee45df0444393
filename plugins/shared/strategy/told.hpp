// SPDX-License-Identifier: Apache-2.0
// What a strategy could not wish for, round after round: each told once, and again when it was gone in between. Header-only.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace koord::strategy {

class Told {
 public:
  // Of the problems of this round those that were not of the last.
  std::vector<std::string> news(const std::vector<std::string>& problems) {
    std::set<std::string> now(problems.begin(), problems.end());
    std::vector<std::string> news;
    for (const std::string& problem : now)
      if (!told_.contains(problem)) news.push_back(problem);
    told_ = std::move(now);
    return news;
  }

 private:
  std::set<std::string> told_;
};

}  // namespace koord::strategy
