// SPDX-License-Identifier: Apache-2.0
// State of the whole process and not of one plugin in it. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace koord::check {

struct ProcessState {
  std::array<void*, 65> handlers = {};  // by signal
  std::string blocked_signals;          // as the kernel prints them
  std::string directory;
  std::string locale;
  unsigned umask = 0;
  std::set<std::string> environment;
  std::size_t threads = 0;
  std::size_t descriptors = 0;

  static ProcessState now();
};

std::size_t count_descriptors();
std::size_t count_threads();
std::size_t count_mappings();

// In words what is not as it was. With `counts` threads and descriptors, too.
std::vector<std::string> changes(const ProcessState& before, const ProcessState& after, bool counts);

}  // namespace koord::check
