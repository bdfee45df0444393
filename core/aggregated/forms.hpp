// SPDX-License-Identifier: Apache-2.0
// The answers in the three forms of accept.hpp: pieces of text that are put together while they are sent. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/aggregated/accept.hpp"
#include "core/aggregated/object.hpp"
#include "core/base/result.hpp"

namespace koord::aggregated {

// The text around the items of a list, which stand between with commas.
struct ListFrame {
  std::string before, after;
};
struct ListMetadata {
  Version version = 0;
  std::string next_page = {};  // the text of `continue`; empty: the last page
};
ListFrame list_frame(const Accepted& accepted, const ListMetadata& metadata);
// One item of a list. This and the next fail if the object was damaged in memory.
Result<std::string> list_item(const Accepted& accepted, const Object& object);

// A whole object: the answer to get, or the object of an event. `has_columns`: of a table; the first event has them.
Result<std::string> whole_object(const Accepted& accepted, const Object& object, bool has_columns = true);
// An object that has a version only. `ends_initial`: with the annotation behind the initial events.
std::string bookmark_object(const Accepted& accepted, Version version, bool ends_initial);

}  // namespace koord::aggregated
