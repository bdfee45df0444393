// SPDX-License-Identifier: Apache-2.0
// KeySets: which keys are wanted of kernel files. Thousands of files have the same few sets of keys, so each set is
// kept once, and so is the order in which the kernel writes its keys. Belongs to a lock of the files and is used under
// it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cgroup/extraction.hpp"
#include "core/cgroup/files.hpp"

namespace koord::cgroup {

// A key that is wanted of a file. Its place in the set is its place in the file's values.
struct WantedKey {
  std::string_view kernel_key;  // outlives the set
  std::string word;             // of memory.numa_stat: the last word of the key, which is the node
  Conversion conversion = Conversion::none;
  std::uint32_t users = 0;  // 0: the place is free

  bool is(const WantedKey& other) const {
    return kernel_key == other.kernel_key && word == other.word && conversion == other.conversion;
  }
  auto operator<=>(const WantedKey&) const = default;
};

class KeySets {
 public:
  using Keys = std::pair<Format, std::vector<WantedKey>>;

  struct Set {
    const Keys* keys;
    Extraction extraction;
    std::size_t files = 0;
  };

  // Returns the set of these keys. The caller must release() it.
  Set& take(Keys keys);
  void release(const Set& set);

  std::size_t size() const { return sets_.size(); }

 private:
  std::map<Keys, Set> sets_;
};

}  // namespace koord::cgroup
