// SPDX-License-Identifier: Apache-2.0
#include "core/state/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <sstream>

#include "core/base/parse.hpp"
#include "core/base/quantity.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

constexpr std::size_t kMaxValues = 1'000'000;

// YAML's plain scalars as its JSON schema types them; what is quoted is text.
json::value to_json_scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() != "?") return json::value(text);
  if (text == "true") return true;
  if (text == "false") return false;
  if (text.empty() || text == "~" || text == "null") return nullptr;
  bool leading_zero = text.size() > 1 && text[0] == '0' && text[1] != '.';
  if (leading_zero || text.find_first_not_of("0123456789+-.eE") != std::string::npos)
    return json::value(text);
  if (Result<std::int64_t> integer = parse_int(text)) return *integer;
  if (Result<double> number = parse_double(text)) return *number;
  return json::value(text);
}

// References are written out; the budget keeps a small text from becoming a huge document.
class YamlToJson {
 public:
  Result<json::value> convert(const YAML::Node& node, std::size_t depth = 0) {
    if (depth > kMaxDocumentDepth) return invalid("nested deeper than " + std::to_string(kMaxDocumentDepth) + " levels");
    if (++values_ > kMaxValues) return invalid("more than " + std::to_string(kMaxValues) + " values");
    if (node.IsSequence()) return convert_sequence(node, depth);
    if (node.IsMap()) return convert_map(node, depth);
    if (node.IsScalar()) return to_json_scalar(node);
    return json::value(nullptr);
  }

 private:
  Result<json::value> convert_sequence(const YAML::Node& node, std::size_t depth) {
    json::array array;
    for (const YAML::Node& item : node) array.push_back(TRY(convert(item, depth + 1)));
    return json::value(std::move(array));
  }

  Result<json::value> convert_map(const YAML::Node& node, std::size_t depth) {
    json::object object;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return invalid("a mapping has a key that is not text");
      json::value value = TRY(convert(member.second, depth + 1));
      object.insert_or_assign(member.first.Scalar(), std::move(value));
    }
    return json::value(std::move(object));
  }

  std::size_t values_ = 0;
};

// Counts documents and gives up at the second: of some damaged texts yaml-cpp makes documents without end.
class DocumentCounter final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++count_ > 1) throw YAML::ParserException(mark, "found a second document, expected one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int count() const { return count_; }

 private:
  int count_ = 0;
};

int count_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentCounter counter;
  while (parser.HandleNextDocument(counter)) {
  }
  return counter.count();
}

Result<json::value> parse_yaml(std::string_view text) {
  try {
    const std::string copy(text);
    if (count_documents(copy) == 0) return invalid("found no YAML document, expected one");
    return YamlToJson().convert(YAML::Load(copy));
  } catch (const YAML::Exception& error) {
    return invalid(std::string("not YAML: ") + error.what());
  }
}

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "nothing";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "a mapping";
  }
  return "?";
}

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

Result<json::value> parse_json(std::string_view text) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = kMaxDocumentDepth + 1;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return invalid("not JSON: " + error.message());
  return value;
}

Result<json::value> parse_document(std::string_view text) {
  std::string_view begin = trim(text);
  if (begin.empty()) return invalid("the document is empty");
  return begin.front() == '{' ? parse_json(begin) : parse_yaml(text);
}

bool equal_but_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

Field Field::operator[](std::string_view key) const {
  std::string path = path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
  const json::object* object = value_ ? value_->if_object() : nullptr;
  return Field(object ? object->if_contains(json::string_view(key.data(), key.size())) : nullptr,
               std::move(path));
}

Field Field::any_case(std::string_view key) const {
  Field exact = (*this)[key];
  const json::object* object = value_ ? value_->if_object() : nullptr;
  if (exact.value_ || !object) return exact;
  for (const auto& member : *object)
    if (equal_but_case(member.key(), key)) exact.value_ = &member.value();  // the last counts
  return exact;
}

bool Field::empty() const {
  return !value_ || value_->is_null();
}

Error Field::wrong(std::string_view what) const {
  return invalid((path_.empty() ? std::string("the document") : path_) + ": " + std::string(what));
}

Error Field::wrong_type(std::string_view expected) const {
  return wrong("expected " + std::string(expected) + ", found " + std::string(type_name(*value_)));
}

Result<std::string> Field::text() const {
  if (empty()) return std::string();
  const json::string* text = value_->if_string();
  if (!text) return wrong_type("text");
  return std::string(text->data(), text->size());
}

Result<std::string> Field::required_text() const {
  std::string found = TRY(text());
  if (found.empty()) return wrong("expected text, found nothing");
  return found;
}

Result<std::int64_t> Field::integer(std::int64_t fallback) const {
  if (empty()) return fallback;
  const std::int64_t* number = value_->if_int64();
  if (!number) return wrong_type("an integer");
  return *number;
}

Result<bool> Field::boolean() const {
  if (empty()) return wrong("expected a boolean, found nothing");
  const bool* value = value_->if_bool();
  if (!value) return wrong_type("a boolean");
  return *value;
}

Result<std::vector<Field>> Field::list() const {
  std::vector<Field> items;
  if (empty()) return items;
  const json::array* array = value_->if_array();
  if (!array) return wrong_type("a list");
  for (const json::value& item : *array)
    items.push_back(Field(&item, path_ + '[' + std::to_string(items.size()) + ']'));
  return items;
}

Result<std::vector<std::pair<std::string, Field>>> Field::members() const {
  std::vector<std::pair<std::string, Field>> fields;
  if (empty()) return fields;
  const json::object* object = value_->if_object();
  if (!object) return wrong_type("a mapping");
  for (const auto& member : *object) {
    std::string key(member.key());
    fields.emplace_back(key, Field(&member.value(), path_ + '.' + key));
  }
  return fields;
}

Result<StringMap> Field::text_map() const {
  auto fields = TRY(members());
  StringMap map;
  for (const auto& [key, field] : fields) map[key] = TRY(field.text());
  return map;
}

Result<std::map<std::string, std::int64_t, std::less<>>> Field::resources() const {
  auto fields = TRY(members());
  std::map<std::string, std::int64_t, std::less<>> amounts;
  for (const auto& [name, field] : fields) amounts[name] = TRY(field.quantity(name));
  return amounts;
}

Result<std::int64_t> Field::quantity(std::string_view resource) const {
  if (empty()) return wrong("expected a quantity, found nothing");
  if (!value_->is_string() && !value_->is_number()) return wrong_type("a quantity");
  std::string text = value_->is_string() ? std::string(value_->as_string()) : number_text(*value_);
  Result<Quantity> parsed = Quantity::parse(text);
  if (!parsed) return wrong(parsed.error().text);
  if (parsed->value() < 0) return wrong("'" + text + "' is negative");
  // Batch and mid CPU are counted in milli-cores already.
  return resource == "cpu" ? parsed->milli() : parsed->value();
}

Result<void> check_kind(const Field& object, std::initializer_list<std::string_view> expected) {
  std::string kind = TRY(object["kind"].text());
  if (kind.empty() || std::find(expected.begin(), expected.end(), kind) != expected.end()) return {};
  return object["kind"].wrong("expected '" + std::string(*expected.begin()) + "', found '" + kind + "'");
}

std::string Field::json() const {
  return value_ ? json::serialize(*value_) : "null";
}

}  // namespace koord::state
