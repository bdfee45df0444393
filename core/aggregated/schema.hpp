// SPDX-License-Identifier: Apache-2.0
// The fields of a NodeMetric in one table. The checks of written objects and the OpenAPI documents are derived from it.
// It has Koordinator's fields, reportIntervalSeconds, and podsMetric[].pressure and .interference. Constants. [any
// thread]
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "core/aggregated/failure.hpp"

namespace koord::aggregated {

enum class FieldType : std::uint8_t {
  object,  // members: `fields`
  list,    // the only entry of `fields` is the schema of the items
  map,     // the only entry of `fields` is the schema of the values; any key is valid
  text,
  time,      // RFC 3339
  duration,  // in Go's format
  quantity,
  int32,
  int64,
  number,
  boolean,
  anything,  // any mapping, stored unchanged
};

struct Field {
  std::string_view name;
  FieldType type = FieldType::text;
  std::string_view description = {};
  std::span<const Field> fields = {};
  bool is_required = false;
};

// Both schemas are objects.
const Field& spec_schema();
const Field& status_schema();

// Removes members that the schema lacks, as an API server does for a custom resource. Adds an error for each value of
// the wrong type to `causes`, at most kMaxCauses. `path`: the path of the value.
inline constexpr std::size_t kMaxCauses = 16;
void check_fields(const Field& schema, boost::json::object& value, const std::string& path, std::vector<Cause>& causes);

}  // namespace koord::aggregated
