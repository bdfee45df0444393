// SPDX-License-Identifier: Apache-2.0
// Members of a JSON value that may be anything: one that is missing or of another type is empty. For answers of the
// agent and objects of the API server, of which a part may be absent; core/json/field.hpp reports what is wrong
// instead. [any thread]
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace koord {

// A mapping, or a value that has no members because it is none.
class JsonParent {
 public:
  JsonParent(const boost::json::object& object) : object_(&object) {}          // NOLINT(google-explicit-constructor)
  JsonParent(const boost::json::value& value) : object_(value.if_object()) {}  // NOLINT(google-explicit-constructor)

  const boost::json::value* find(std::string_view key) const;

 private:
  const boost::json::object* object_;
};

// Null if there is no such member.
inline const boost::json::value* json_member(JsonParent parent, std::string_view key) { return parent.find(key); }

std::string json_text(JsonParent parent, std::string_view key);
std::optional<double> json_number(JsonParent parent, std::string_view key);
std::optional<std::int64_t> json_integer(JsonParent parent, std::string_view key);
bool json_flag(JsonParent parent, std::string_view key, bool otherwise = false);
const boost::json::array& json_list(JsonParent parent, std::string_view key);
// A mapping.
const boost::json::value& json_mapping(JsonParent parent, std::string_view key);

// The mapping at this key, for writing: made if it is missing or of another type.
boost::json::object& mapping_to_fill(boost::json::object& parent, std::string_view key);

// As the API server reads one: 5.0 is the integer 5.
std::optional<std::int64_t> integer_of(const boost::json::value& value);

}  // namespace koord
