// SPDX-License-Identifier: Apache-2.0
// ProblemTracker: decides when a lasting problem is reported: when it begins, when its text changes, and when it is
// over, not at each check. Problems belong to subjects: the parts of the caller that can have one each. [one thread]
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"

namespace koord {

class ProblemTracker {
 public:
  enum class Change {
    none,   // nothing to report
    begun,  // the problem is new, has another text, or was last reported before `repeat_after`
    over,
  };

  ProblemTracker() = default;
  // A problem that lasts is reported again after this time, and forgotten if it is not updated for as long.
  explicit ProblemTracker(Duration repeat_after) : repeat_after_(repeat_after) {}

  // `problem`: empty without one. `now` matters only with repeat_after.
  Change update(std::string_view subject, std::string_view problem, Time now = {});

  // Takes all problems of a check as subjects of their own. Returns those that are new, in the given order, each once;
  // others are over.
  std::vector<std::string> begun(const std::vector<std::string>& problems);

  // Forgets the problems of subjects for which `keeps` returns false, without a report.
  template <class Keeps>
  void keep(Keeps&& keeps) {
    std::erase_if(problems_, [&](const auto& problem) { return !keeps(problem.first); });
  }

  bool has(std::string_view subject) const { return problems_.contains(subject); }
  bool empty() const { return problems_.empty(); }

 private:
  struct Problem {
    std::string text;
    Time reported{};
  };

  bool is_due(const Problem& problem, Time now) const {
    return repeat_after_ && now - problem.reported >= *repeat_after_;
  }

  const std::optional<Duration> repeat_after_;
  std::map<std::string, Problem, std::less<>> problems_;  // by subject
};

}  // namespace koord
