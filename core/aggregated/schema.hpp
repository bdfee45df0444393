// SPDX-License-Identifier: Apache-2.0
// The fields of a NodeMetric in one table, of which the checks of written objects and the OpenAPI documents are made.
// Koordinator's fields, reportIntervalSeconds, and podsMetric[].pressure and .interference. Constants. [any thread]
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
  object,  // of `fields`
  list,    // of the one in `fields`
  map,     // of the one in `fields`, by any name
  text,
  time,      // RFC 3339
  duration,  // as Go writes it
  quantity,
  int32,
  int64,
  number,
  boolean,
  anything,  // a mapping that is kept as it is
};

struct Field {
  std::string_view name;
  FieldType type = FieldType::text;
  std::string_view description = {};
  std::span<const Field> fields = {};
  bool is_required = false;
};

// Both are objects.
const Field& spec_schema();
const Field& status_schema();

// Keeps what the schema has and drops other members, as an API server does with a custom resource. Adds to `causes`
// what has the wrong type, at most kMaxCauses. `path`: of the value.
inline constexpr std::size_t kMaxCauses = 16;
void check_fields(const Field& schema, boost::json::object& value, const std::string& path, std::vector<Cause>& causes);

}  // namespace koord::aggregated
