// SPDX-License-Identifier: Apache-2.0
// SentObject: a checked object from a client. [any thread]
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregated/failure.hpp"
#include "core/aggregated/object.hpp"

namespace koord::aggregated {

struct SentObject {
  std::string name, uid, version;  // empty: not sent
  Labels labels, annotations;
  std::string owners;        // JSON; empty: none
  std::string spec, status;  // JSON; empty: none
  Cells cells;
};

// Checks the object. Errors in kind, version and metadata are reported with status 400, all others with 422.
Outcome<SentObject> read_sent_object(boost::json::object object);

}  // namespace koord::aggregated
