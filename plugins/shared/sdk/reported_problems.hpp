// SPDX-License-Identifier: Apache-2.0
// ReportedProblems: the problems that a runtime hook has logged already. A hook is called for a pod many times, but
// each problem is logged once. Header-only. [any thread]
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace koord::hook_plugin {

class ReportedProblems {
 public:
  // When the set exceeds this size it is emptied, because pods come and go, and a hostile pod may cause any number of
  // problems.
  static constexpr std::size_t kMost = 256;

  // Returns false if the text is empty or was passed before.
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
  std::set<std::string> known_;  // guarded by mutex_
};

}  // namespace koord::hook_plugin
