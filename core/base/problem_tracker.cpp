// SPDX-License-Identifier: Apache-2.0
#include "core/base/problem_tracker.hpp"

#include <set>

namespace koord {

ProblemTracker::Change ProblemTracker::update(std::string_view subject, std::string_view problem, Time now) {
  const auto known = problems_.find(subject);
  if (problem.empty()) {
    if (known == problems_.end()) return Change::none;
    problems_.erase(known);
    return Change::over;
  }
  if (known != problems_.end() && known->second.text == problem && !is_due(known->second, now)) return Change::none;
  if (known == problems_.end()) std::erase_if(problems_, [&](const auto& old) { return is_due(old.second, now); });
  problems_.insert_or_assign(std::string(subject), Problem{std::string(problem), now});
  return Change::begun;
}

std::vector<std::string> ProblemTracker::begun(const std::vector<std::string>& problems) {
  const std::set<std::string_view> present(problems.begin(), problems.end());
  keep([&](const std::string& known) { return present.contains(known); });
  std::vector<std::string> begun;
  for (const std::string& problem : problems)
    if (update(problem, problem) == Change::begun) begun.push_back(problem);
  return begun;
}

}  // namespace koord
