// SPDX-License-Identifier: Apache-2.0
// Reads a list of Kubernetes, {"kind": …, "items": […]}, one item after the other while it parses, and of each item only
// what is wanted: most of an answer (managedFields, environment, volumes) is never anywhere in memory but in its text. For
// the sources of this folder only. [any thread]
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/state/document.hpp"

namespace koord::state {

// A member that is kept, whole when it has no members of its own here. For a list: of each of its items.
struct Wanted {
  std::string_view key;
  std::span<const Wanted> members = {};
};

struct ItemList {
  std::string kind;       // empty: it names none
  bool has_items = false;  // false: `items` are null or not there
  bool null_items = false;
};

// `take` is called for each item, which is gone when it returns. An error: not JSON, or not a list; what was taken before it
// should not count.
Result<ItemList> for_each_item(std::string_view text, std::span<const Wanted> wanted, const std::function<void(const Field&)>& take);

}  // namespace koord::state
