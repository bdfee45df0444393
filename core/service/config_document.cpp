// SPDX-License-Identifier: Apache-2.0
#include "core/service/config_document.hpp"

#include <boost/json.hpp>
#include <limits>

#include "core/json/reader.hpp"

namespace koord::service {
namespace json = boost::json;

struct ConfigDocument::Value {
  json::value root;
};

namespace {

Result<const json::value*> find(const json::value& root, std::string_view pointer) {
  boost::system::error_code failed;
  if (const json::value* value = root.find_pointer(pointer, failed)) return value;
  const std::string quoted = "'" + std::string(pointer) + "'";
  if (failed == json::error::missing_slash || failed == json::error::invalid_escape)
    return invalid(quoted + " is not a JSON pointer");
  return not_found("the configuration has no " + quoted);
}

Error wrong_type(std::string_view pointer, const json::value& found, std::string_view expected) {
  std::string text = "'" + std::string(pointer) + "' is ";
  text += json::to_string(found.kind());
  return invalid(text + ", expected " + std::string(expected));
}

}  // namespace

ConfigDocument::ConfigDocument(std::string text, std::unique_ptr<Value> value)
    : text_(std::move(text)), value_(std::move(value)) {}

ConfigDocument::~ConfigDocument() = default;

Result<std::shared_ptr<const ConfigDocument>> ConfigDocument::parse(std::string_view json_text) {
  std::string text(json_text.empty() ? "{}" : json_text);
  Result<json::value> root = read_json(text);
  if (!root) return std::move(root).error().context("the configuration");
  if (!root->is_object()) return wrong_type("", *root, "an object");
  auto value = std::make_unique<Value>(Value{*std::move(root)});
  return std::shared_ptr<const ConfigDocument>(new ConfigDocument(std::move(text), std::move(value)));
}

Result<std::int64_t> ConfigDocument::integer(std::string_view pointer) const {
  const json::value* value = TRY(find(value_->root, pointer));
  if (const std::int64_t* number = value->if_int64()) return *number;
  if (value->is_uint64()) return invalid("'" + std::string(pointer) + "' is larger than a 64-bit integer");
  return wrong_type(pointer, *value, "an integer");
}

Result<double> ConfigDocument::number(std::string_view pointer) const {
  const json::value* value = TRY(find(value_->root, pointer));
  if (!value->is_number()) return wrong_type(pointer, *value, "a number");
  return value->to_number<double>();
}

Result<bool> ConfigDocument::boolean(std::string_view pointer) const {
  const json::value* value = TRY(find(value_->root, pointer));
  if (!value->is_bool()) return wrong_type(pointer, *value, "a boolean");
  return value->get_bool();
}

Result<std::string_view> ConfigDocument::string(std::string_view pointer) const {
  const json::value* value = TRY(find(value_->root, pointer));
  if (!value->is_string()) return wrong_type(pointer, *value, "a string");
  return std::string_view(value->get_string().data(), value->get_string().size());
}

}  // namespace koord::service
