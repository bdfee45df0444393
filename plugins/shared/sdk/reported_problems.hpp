// SPDX-License-Identifier: Apache-2.0
// ReportedProblems: the problems that a runtime hook has logged. A hook is asked about a pod again and again, and each
// problem is logged once. Header-only. [any thread]
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace koord::hook_plugin {

class ReportedProblems {
 public:
  // Beyond this many the set is emptied: pods come and go, and a hostile one may cause any number of problems.
  static constexpr std::size_t kMost = 256;

  // False: empty, or known already.
  bool is_new(const std::string& problem) {
    if (problem.empty()) return false;
    std::lock_guard lock(mutex_);
    if (known_.contains(problem)) return false;
    if (known_.size() == kMost) known_.clear();
    known_.insert(problem);
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> known_;  // with mutex_
};

}  // namespace koord::hook_plugin
