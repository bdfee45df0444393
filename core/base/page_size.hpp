// SPDX-License-Identifier: Apache-2.0
// The size of a page of memory on this node.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace koord {

inline std::int64_t page_size() {
  static const std::int64_t size = ::sysconf(_SC_PAGESIZE);
  return size;
}

}  // namespace koord
