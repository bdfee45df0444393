// SPDX-License-Identifier: Apache-2.0
// RecentTexts: caches the whole texts of the newest objects, so that reports and their events need no decompression.
// The version of an object decides its slot. [any thread]
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "core/aggregated/object.hpp"
#include "core/aggregated/version.hpp"
#include "core/base/result.hpp"

namespace koord::aggregated {

class RecentTexts {
 public:
  static constexpr std::size_t kObjects = 64;
  static constexpr std::size_t kMostBytes = 64u << 10;  // longer texts are not cached

  // Moves the text of a new object of the store into the cache.
  void add(Object& object);
  // Returns an object of the store with its text, decompressed if it is not cached.
  Result<PlainObject> plain(const ObjectPtr& object);

 private:
  void keep(Version version, std::shared_ptr<const std::string> text);

  struct Recent {
    Version version = 0;
    std::shared_ptr<const std::string> text;
  };

  std::mutex mutex_;
  std::array<Recent, kObjects> recent_;
};

}  // namespace koord::aggregated
