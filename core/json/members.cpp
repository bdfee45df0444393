// SPDX-License-Identifier: Apache-2.0
#include "core/json/members.hpp"

#include <boost/json.hpp>
#include <cmath>

#include "core/json/reader.hpp"

namespace koord {

namespace json = boost::json;

const json::value* JsonParent::find(std::string_view key) const {
  return object_ != nullptr ? object_->if_contains(json::string_view(key.data(), key.size())) : nullptr;
}

std::string json_text(JsonParent parent, std::string_view key) {
  const json::value* found = parent.find(key);
  return found != nullptr && found->is_string() ? std::string(text_view(found->get_string())) : std::string();
}

std::optional<double> json_number(JsonParent parent, std::string_view key) {
  const json::value* found = parent.find(key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

std::optional<std::int64_t> json_integer(JsonParent parent, std::string_view key) {
  const json::value* found = parent.find(key);
  return found != nullptr ? integer_of(*found) : std::nullopt;
}

bool json_flag(JsonParent parent, std::string_view key, bool otherwise) {
  const json::value* found = parent.find(key);
  return found != nullptr && found->is_bool() ? found->get_bool() : otherwise;
}

const json::array& json_list(JsonParent parent, std::string_view key) {
  static const json::array kEmpty;
  const json::value* found = parent.find(key);
  return found != nullptr && found->is_array() ? found->get_array() : kEmpty;
}

const json::value& json_mapping(JsonParent parent, std::string_view key) {
  static const json::value kEmpty(json::object_kind);
  const json::value* found = parent.find(key);
  return found != nullptr && found->is_object() ? *found : kEmpty;
}

json::object& mapping_to_fill(json::object& parent, std::string_view key) {
  json::value& member = parent[json::string_view(key.data(), key.size())];
  if (!member.is_object()) member.emplace_object();
  return member.get_object();
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (const std::int64_t* number = value.if_int64()) return *number;
  const double* number = value.if_double();
  if (number == nullptr || std::trunc(*number) != *number || std::fabs(*number) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace koord
