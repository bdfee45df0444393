// SPDX-License-Identifier: Apache-2.0
#include "core/json/field.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "core/base/quantity.hpp"
#include "core/json/reader.hpp"

namespace koord {
namespace {
namespace json = boost::json;

std::string number_text(const json::value& value) {
  if (const double* number = value.if_double()) {
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, *number).ptr;
    return std::string(buffer, end);
  }
  if (const std::uint64_t* number = value.if_uint64()) return std::to_string(*number);
  return std::to_string(value.as_int64());
}

}  // namespace

bool equal_but_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

JsonField JsonField::operator[](std::string_view key) const {
  std::string path = path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
  const json::object* object = value_ ? value_->if_object() : nullptr;
  return JsonField(object ? object->if_contains(json::string_view(key.data(), key.size())) : nullptr, std::move(path));
}

JsonField JsonField::any_case(std::string_view key) const {
  JsonField exact = (*this)[key];
  const json::object* object = value_ ? value_->if_object() : nullptr;
  if (exact.value_ || !object) return exact;
  for (const auto& member : *object)
    if (equal_but_case(member.key(), key)) exact.value_ = &member.value();  // if several match, the last is used
  return exact;
}

bool JsonField::empty() const { return !value_ || value_->is_null(); }

bool JsonField::is_false() const { return value_ && value_->is_bool() && !value_->get_bool(); }

bool JsonField::is_text() const { return value_ && value_->is_string(); }

Result<void> JsonField::check_mapping() const {
  if (empty() || value_->is_object()) return {};
  return wrong_type("a mapping");
}

Error JsonField::wrong(std::string_view what) const {
  return invalid((path_.empty() ? std::string("the document") : path_) + ": " + std::string(what));
}

Error JsonField::wrong_type(std::string_view expected) const {
  return wrong("expected " + std::string(expected) + ", found " + std::string(json_type_name(*value_)));
}

Result<std::string> JsonField::text() const {
  if (empty()) return std::string();
  const json::string* text = value_->if_string();
  if (!text) return wrong_type("text");
  return std::string(text->data(), text->size());
}

Result<std::string> JsonField::required_text() const {
  std::string found = TRY(text());
  if (found.empty()) return wrong("expected text, found nothing");
  return found;
}

Result<std::int64_t> JsonField::integer(std::int64_t fallback) const {
  if (empty()) return fallback;
  const std::int64_t* number = value_->if_int64();
  if (!number) return wrong_type("an integer");
  return *number;
}

Result<double> JsonField::number() const {
  if (empty()) return wrong("expected a number, found nothing");
  if (!value_->is_number()) return wrong_type("a number");
  return value_->to_number<double>();
}

Result<bool> JsonField::boolean() const {
  if (empty()) return wrong("expected a boolean, found nothing");
  const bool* value = value_->if_bool();
  if (!value) return wrong_type("a boolean");
  return *value;
}

Result<std::vector<JsonField>> JsonField::list(std::size_t most) const {
  std::vector<JsonField> items;
  if (empty()) return items;
  const json::array* array = value_->if_array();
  if (!array) return wrong_type("a list");
  if (array->size() > most)
    return wrong("found " + std::to_string(array->size()) + ", expected at most " + std::to_string(most));
  for (const json::value& item : *array)
    items.push_back(JsonField(&item, path_ + '[' + std::to_string(items.size()) + ']'));
  return items;
}

Result<std::vector<std::pair<std::string, JsonField>>> JsonField::members() const {
  std::vector<std::pair<std::string, JsonField>> fields;
  if (empty()) return fields;
  const json::object* object = value_->if_object();
  if (!object) return wrong_type("a mapping");
  for (const auto& member : *object) {
    std::string key(member.key());
    fields.emplace_back(key, JsonField(&member.value(), path_ + '.' + key));
  }
  return fields;
}

Result<std::map<std::string, std::string, std::less<>>> JsonField::text_map() const {
  auto fields = TRY(members());
  std::map<std::string, std::string, std::less<>> map;
  for (const auto& [key, field] : fields) map[key] = TRY(field.text());
  return map;
}

Result<std::map<std::string, std::int64_t, std::less<>>> JsonField::resources() const {
  auto fields = TRY(members());
  std::map<std::string, std::int64_t, std::less<>> amounts;
  for (const auto& [name, field] : fields) amounts[name] = TRY(field.quantity(name));
  return amounts;
}

Result<std::int64_t> JsonField::quantity(std::string_view resource) const {
  if (empty()) return wrong("expected a quantity, found nothing");
  if (!value_->is_string() && !value_->is_number()) return wrong_type("a quantity");
  std::string text = value_->is_string() ? std::string(value_->as_string()) : number_text(*value_);
  Result<Quantity> parsed = Quantity::parse(text);
  if (!parsed) return wrong(parsed.error().text);
  if (parsed->value() < 0) return wrong("'" + text + "' is negative");
  // Batch and mid CPU are already in milli-cores.
  return resource == "cpu" ? parsed->milli() : parsed->value();
}

std::string JsonField::json() const { return value_ ? json::serialize(*value_) : "null"; }

}  // namespace koord
