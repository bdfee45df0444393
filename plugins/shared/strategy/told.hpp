// SPDX-License-Identifier: Apache-2.0
// Values that a strategy could not propose, round after round: each is reported once, and again if it was gone in
// between. Header-only.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace koord::strategy {

class Told {
 public:
  // Returns the problems of this round that were not in the last one.
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
