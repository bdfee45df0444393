// SPDX-License-Identifier: Apache-2.0
// Reads Kubernetes objects, YAML or JSON, into one model; core/json/field.hpp walks it. For the sources of this folder
// only. [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <initializer_list>
#include <string_view>

#include "core/base/result.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::state {

using Field = JsonField;

// Text that begins with '{' is JSON, all else YAML (a single document, read by core/config/yaml.hpp).
Result<boost::json::value> parse_document(std::string_view text);

// An object without a kind, or of one of these.
Result<void> check_kind(const Field& object, std::initializer_list<std::string_view> expected);

}  // namespace koord::state
