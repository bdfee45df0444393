// SPDX-License-Identifier: Apache-2.0
// RecentTexts: the whole texts of the newest objects, so that a report and its events are handled without unpacking. An
// object has its place by its version. [any thread]
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
  static constexpr std::size_t kMostBytes = 64u << 10;  // longer texts are not kept

  // Takes the text of a new object of the store.
  void add(Object& object);
  // An object of the store with its text, unpacked if it is not here.
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
