// SPDX-License-Identifier: Apache-2.0
#include "core/http/url.hpp"

#include "core/base/parse.hpp"
#include "core/base/url.hpp"

namespace koord::http {
namespace {

Result<Query::Parameter> parse_parameter(std::string_view text) {
  std::size_t equals = text.find('=');
  std::string name = TRY(percent_decode(text.substr(0, equals), true));
  if (name.empty()) return invalid("query parameter '" + std::string(text) + "' has no name");
  if (equals == std::string_view::npos) return Query::Parameter(std::move(name), "");
  std::string value = TRY(percent_decode(text.substr(equals + 1), true));
  return Query::Parameter(std::move(name), std::move(value));
}

}  // namespace

std::optional<std::string_view> Query::get(std::string_view name) const {
  for (const auto& [parameter, value] : parameters_) {
    if (parameter == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Query::get_all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [parameter, value] : parameters_) {
    if (parameter == name) values.push_back(value);
  }
  return values;
}

Result<Query> parse_query(std::string_view text) {
  std::vector<Query::Parameter> parameters;
  while (auto field = next_field(text, '&')) {
    if (field->empty()) continue;
    if (parameters.size() == kMaxQueryParameters)
      return invalid("the query has more than " + std::to_string(kMaxQueryParameters) + " parameters");
    parameters.push_back(TRY(parse_parameter(*field)));
  }
  return Query(std::move(parameters));
}

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return invalid("target '" + std::string(text) + "' does not begin with '/'");
  std::size_t mark = text.find('?');
  std::string path = TRY(percent_decode(text.substr(0, mark), false));
  if (mark == std::string_view::npos) return Target{std::move(path), {}};
  Query query = TRY(parse_query(text.substr(mark + 1)));
  return Target{std::move(path), std::move(query)};
}

}  // namespace koord::http
