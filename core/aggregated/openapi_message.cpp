// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/openapi_message.hpp"

#include <boost/json.hpp>
#include <cstdint>
#include <string_view>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

// A writer of length-delimited protobuf fields (strings and messages). No other type is needed.
class Message {
 public:
  Message& text(unsigned field, std::string_view text) {
    if (text.empty()) return *this;
    return bytes(field, text);
  }
  Message& message(unsigned field, const Message& inner) { return bytes(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  Message& bytes(unsigned field, std::string_view content) {
    number(field << 3 | 2);
    number(content.size());
    bytes_ += content;
    return *this;
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7f));
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// The field numbers of openapi.v2.
namespace field {
constexpr unsigned kSwagger = 1, kInfo = 2, kPaths = 8, kDefinitions = 9;  // Document
constexpr unsigned kTitle = 1, kVersion = 2;                               // Info
constexpr unsigned kNamed = 1;                                             // Definitions, Properties
constexpr unsigned kName = 1, kValue = 2;                                  // NamedSchema, NamedAny
constexpr unsigned kYaml = 2;                                              // Any
constexpr unsigned kRef = 1, kFormat = 2, kDescription = 4, kRequired = 19, kAdditional = 21, kType = 22, kItems = 23,
                   kProperties = 25, kExtension = 31;  // Schema
constexpr unsigned kOnly = 1;                          // AdditionalPropertiesItem, ItemsItem, TypeItem
}  // namespace field

std::string_view std_view(json::string_view text) { return {text.data(), text.size()}; }

Message schema_message(const json::value& schema);

Message named(std::string_view name, const Message& value) {
  Message message;
  return message.text(field::kName, name).message(field::kValue, value);
}

Message named_schemas(const json::object& schemas) {
  Message message;
  for (const auto& [name, schema] : schemas)
    message.message(field::kNamed, named(std_view(name), schema_message(schema)));
  return message;
}

Message only(const Message& inner) {
  Message message;
  return message.message(field::kOnly, inner);
}

// Writes the extensions as JSON, which is valid YAML.
void add_extensions(Message& message, const json::object& schema) {
  for (const auto& [name, value] : schema)
    if (std_view(name).starts_with("x-")) {
      Message any;
      any.text(field::kYaml, json::serialize(value));
      message.message(field::kExtension, named(std_view(name), any));
    }
}

Message schema_message(const json::value& schema) {
  Message message;
  message.text(field::kRef, json_text(schema, "$ref"));
  message.text(field::kFormat, json_text(schema, "format"));
  message.text(field::kDescription, json_text(schema, "description"));
  for (const json::value& name : json_list(schema, "required"))
    message.text(field::kRequired, text_view(name.as_string()));
  if (const json::value* inner = json_member(schema, "additionalProperties"))
    message.message(field::kAdditional, only(schema_message(*inner)));
  if (const std::string type = json_text(schema, "type"); !type.empty()) {
    Message types;
    message.message(field::kType, types.text(field::kOnly, type));
  }
  if (const json::value* items = json_member(schema, "items"))
    message.message(field::kItems, only(schema_message(*items)));
  if (const json::value* properties = json_member(schema, "properties"))
    message.message(field::kProperties, named_schemas(properties->as_object()));
  add_extensions(message, schema.as_object());
  return message;
}

}  // namespace

std::string openapi_message(const json::object& info, const json::object& definitions) {
  Message about, document;
  about.text(field::kTitle, json_text(info, "title")).text(field::kVersion, json_text(info, "version"));
  document.text(field::kSwagger, "2.0").message(field::kInfo, about).message(field::kPaths, Message());
  document.message(field::kDefinitions, named_schemas(definitions));
  return document.bytes();
}

}  // namespace koord::aggregated
