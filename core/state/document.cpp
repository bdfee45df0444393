// SPDX-License-Identifier: Apache-2.0
#include "core/state/document.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <string>

#include "core/base/parse.hpp"
#include "core/config/json.hpp"

namespace koord::state {
namespace {

// Far more than the pods of a full node.
constexpr config::YamlLimits kLimits{.bytes = kMaxJsonBytes, .values = 1'000'000};

Result<boost::json::value> parse_yaml(std::string_view text) {
  boost::json::value value = TRY(config::read_yaml_as_json(text, "the document", kLimits));
  if (value.is_null()) return invalid("found no YAML document, expected one");
  return value;
}

}  // namespace

Result<boost::json::value> parse_document(std::string_view text) {
  std::string_view begin = trim(text);
  if (begin.empty()) return invalid("the document is empty");
  return begin.front() == '{' ? read_json(begin) : parse_yaml(text);
}

Result<void> check_kind(const Field& object, std::initializer_list<std::string_view> expected) {
  std::string kind = TRY(object["kind"].text());
  if (kind.empty() || std::find(expected.begin(), expected.end(), kind) != expected.end()) return {};
  return object["kind"].wrong("expected '" + std::string(*expected.begin()) + "', found '" + kind + "'");
}

}  // namespace koord::state
