// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <limits>
#include <utility>

#include "core/aggregated/schema.hpp"
#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"
#include "core/base/timestamp.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

// The path of a value in the object. Its text is built only for an error.
struct FieldPlace {
  const FieldPlace* parent = nullptr;
  std::string_view name = {};
  std::size_t index = 0;
  bool is_item = false;

  std::string text() const {
    const std::string before = parent != nullptr ? parent->text() : std::string();
    if (is_item) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? std::string(name) : before + "." + std::string(name);
  }
};

class FieldCheck {
 public:
  explicit FieldCheck(std::vector<Cause>& causes) : causes_(causes) {}

  void object(const Field& schema, json::object& value, const FieldPlace& place) {
    drop_unknown(schema, value);
    for (const Field& field : schema.fields) {
      json::value* member = value.if_contains({field.name.data(), field.name.size()});
      const FieldPlace at{&place, field.name};
      if (member != nullptr)
        check(field, *member, at);
      else if (field.is_required)
        refuse(at, "FieldValueRequired", "Required value");
    }
  }

 private:
  // Also removes null members, which mean that the value is missing.
  static void drop_unknown(const Field& schema, json::object& value) {
    for (auto at = value.begin(); at != value.end();) {
      if (at->value().is_null() || find(schema, {at->key().data(), at->key().size()}) == nullptr)
        at = value.erase(at);
      else
        ++at;
    }
  }

  static const Field* find(const Field& schema, std::string_view name) {
    for (const Field& field : schema.fields)
      if (field.name == name) return &field;
    return nullptr;
  }

  void check(const Field& field, json::value& value, const FieldPlace& place) {
    switch (field.type) {
      case FieldType::object:
        return value.is_object() ? object(field, value.get_object(), place) : wrong_type(value, place, "object");
      case FieldType::list:
        return value.is_array() ? list(field, value.get_array(), place) : wrong_type(value, place, "array");
      case FieldType::map:
        return value.is_object() ? members(field, value.get_object(), place) : wrong_type(value, place, "object");
      case FieldType::anything:
        if (!value.is_object()) wrong_type(value, place, "object");
        return;
      case FieldType::boolean:
        if (!value.is_bool()) wrong_type(value, place, "boolean");
        return;
      case FieldType::number:
        if (!value.is_number()) wrong_type(value, place, "number");
        return;
      case FieldType::int32:
      case FieldType::int64:
        return integer(field, value, place);
      case FieldType::quantity:
        return amount(value, place);
      case FieldType::text:
      case FieldType::time:
      case FieldType::duration:
        return value.is_string() ? words(field, text_view(value.get_string()), place)
                                 : wrong_type(value, place, "string");
    }
  }

  void list(const Field& field, json::array& items, const FieldPlace& place) {
    for (std::size_t i = 0; i < items.size(); ++i) check(field.fields[0], items[i], FieldPlace{&place, {}, i, true});
  }

  void members(const Field& field, json::object& map, const FieldPlace& place) {
    for (auto& member : map)
      check(field.fields[0], member.value(), FieldPlace{&place, {member.key().data(), member.key().size()}});
  }

  void integer(const Field& field, const json::value& value, const FieldPlace& place) {
    const auto number = integer_of(value);
    if (!number) return wrong_type(value, place, "integer");
    using Small = std::numeric_limits<std::int32_t>;
    if (field.type == FieldType::int32 && (*number < Small::min() || *number > Small::max()))
      refuse(place, "FieldValueInvalid", "Invalid value: must be a 32-bit integer");
  }

  void amount(const json::value& value, const FieldPlace& place) {
    if (value.is_number() && integer_of(value)) return;
    if (!value.is_string()) return wrong_type(value, place, "integer or string");
    if (!Quantity::parse(text_view(value.get_string())))
      refuse(place, "FieldValueInvalid", "Invalid value: must be a quantity");
  }

  void words(const Field& field, std::string_view text, const FieldPlace& place) {
    if (field.type == FieldType::time && !parse_timestamp(text))
      refuse(place, "FieldValueInvalid", "Invalid value: must be of type date-time");
    if (field.type == FieldType::duration && !parse_duration(text))
      refuse(place, "FieldValueInvalid", "Invalid value: must be a duration");
  }

  void wrong_type(const json::value& value, const FieldPlace& place, std::string_view expected) {
    refuse(place, "FieldValueTypeInvalid",
           "Invalid value: must be of type " + std::string(expected) + ", is " + std::string(json_type_name(value)));
  }

  void refuse(const FieldPlace& place, std::string_view reason, std::string message) {
    if (causes_.size() < kMaxCauses) causes_.push_back({place.text(), reason, std::move(message)});
  }

  std::vector<Cause>& causes_;
};

}  // namespace

void check_fields(const Field& schema, json::object& value, const std::string& path, std::vector<Cause>& causes) {
  FieldCheck(causes).object(schema, value, FieldPlace{nullptr, path});
}

}  // namespace koord::aggregated
