// SPDX-License-Identifier: Apache-2.0
// The exports of the libraries that a file needs, and of those that these need in turn, read from their files in the
// directories of this machine's loader. [any thread]
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

namespace koord::check {

class LibrarySymbols {
 public:
  explicit LibrarySymbols(const std::vector<std::string>& needed);

  bool has(const std::string& symbol) const { return symbols_.contains(symbol); }
  // Libraries that are missing or cannot be read.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  std::unordered_set<std::string> symbols_;
  std::vector<std::string> missing_;
};

}  // namespace koord::check
