// SPDX-License-Identifier: Apache-2.0
// SpaceWatch: notices that the free space of a file system falls. Reading it is cheap, and shows files of any kind,
// those without a name too. Measurements find out which plugin has written them. [one thread]
#pragma once

#include <cstdint>

namespace koord::host {

class SpaceWatch {
 public:
  static constexpr std::uint64_t kNoticedFall = 16u << 20;

  // Returns whether there are more than kNoticedFall bytes less than at most since the last fall.
  bool has_fallen(std::uint64_t free_bytes) {
    const bool has_fallen = free_bytes + kNoticedFall < most_;
    if (has_fallen || free_bytes > most_) most_ = free_bytes;
    return has_fallen;
  }

 private:
  std::uint64_t most_ = 0;
};

}  // namespace koord::host
