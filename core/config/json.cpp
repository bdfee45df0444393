// SPDX-License-Identifier: Apache-2.0
#include "core/config/json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include "core/config/document.hpp"
#include "core/config/report.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace json = boost::json;

namespace {

template <class T, class... How>
std::optional<T> whole(std::string_view text, How... how) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, how...);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

std::string_view without_plus(std::string_view text) {
  const bool signed_digit = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return signed_digit ? text.substr(1) : text;
}

std::optional<json::value> read_integer(std::string_view text) {
  if (text.starts_with("0x")) {
    if (auto value = whole<std::uint64_t>(text.substr(2), 16)) return json::value(*value);
    return std::nullopt;
  }
  if (text.starts_with("0o")) {
    if (auto value = whole<std::uint64_t>(text.substr(2), 8)) return json::value(*value);
    return std::nullopt;
  }
  if (auto value = whole<std::int64_t>(without_plus(text))) return json::value(*value);
  if (auto value = whole<std::uint64_t>(without_plus(text))) return json::value(*value);
  return std::nullopt;
}

// Parses a decimal number. from_chars would also accept "inf" and "nan", which are strings in YAML.
std::optional<json::value> read_decimal(std::string_view text) {
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
  if (auto value = whole<double>(without_plus(text))) return json::value(*value);
  return std::nullopt;
}

bool is_infinite_or_nan(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (std::string_view name : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})
    if (text == name) return true;
  return false;
}

Result<json::value> scalar_to_json(const Node& node) {
  const std::string& text = node.text;
  if (node.quoted) return json::value(text);
  if (text == "true" || text == "True" || text == "TRUE") return json::value(true);
  if (text == "false" || text == "False" || text == "FALSE") return json::value(false);
  if (is_infinite_or_nan(text))
    return invalid("JSON has no number '" + text + "', expected a finite one at " + node.place.text());
  if (auto integer = read_integer(text)) return *std::move(integer);
  if (auto decimal = read_decimal(text)) return *std::move(decimal);
  return json::value(text);
}

Result<json::value> node_to_json(const Node& node) {
  switch (node.kind) {
    case NodeKind::null:
      break;
    case NodeKind::scalar:
      return scalar_to_json(node);
    case NodeKind::sequence: {
      json::array items;
      for (const Node& item : node.items) items.push_back(TRY(node_to_json(item)));
      return json::value(std::move(items));
    }
    case NodeKind::mapping: {
      json::object object;
      for (const Entry& entry : node.entries) object.emplace(entry.key, TRY(node_to_json(entry.value)));
      return json::value(std::move(object));
    }
  }
  return json::value(nullptr);
}

}  // namespace

Result<std::string> to_json(const Node& node) { return json::serialize(TRY(node_to_json(node))); }

Result<json::value> read_yaml_as_json(std::string_view text, const std::string& source, YamlLimits limits) {
  Report report;
  const Node root = TRY(read_yaml(text, source, report, limits));
  if (!report.empty()) return report.to_error();
  return node_to_json(root);
}

Result<std::string> yaml_to_json(std::string_view text, const std::string& source) {
  return json::serialize(TRY(read_yaml_as_json(text, source)));
}

}  // namespace koord::config
