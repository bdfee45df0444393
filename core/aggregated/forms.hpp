// SPDX-License-Identifier: Apache-2.0
// Responses in the three forms of accept.hpp, as pieces of text that are joined while they are sent. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/aggregated/accept.hpp"
#include "core/aggregated/object.hpp"
#include "core/base/result.hpp"

namespace koord::aggregated {

// The text before and after the items of a list. Commas separate the items.
struct ListFrame {
  std::string before, after;
};
struct ListMetadata {
  Version version = 0;
  std::string next_page = {};  // the text of `continue`; empty on the last page
};
ListFrame list_frame(const Accepted& accepted, const ListMetadata& metadata);
// Returns one item of a list. This and the next function fail if the object was damaged in memory.
Result<std::string> list_item(const Accepted& accepted, const Object& object);

// Returns a whole object: the response to get, or the object of an event. `has_columns`: include the columns of a
// table; only the first event has them.
Result<std::string> whole_object(const Accepted& accepted, const Object& object, bool has_columns = true);
// Returns a bookmark, which has only a version. `ends_initial`: add the annotation that marks the end of the initial
// events.
std::string bookmark_object(const Accepted& accepted, Version version, bool ends_initial);

}  // namespace koord::aggregated
