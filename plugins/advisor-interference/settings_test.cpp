// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/settings.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"

using namespace koord;
using analysis::RuleSetting;

namespace {

namespace json = boost::json;

json::object schema() {
  const auto whole = read_json_object("{" + std::string(interference::kRuleSettings) + "}");
  REQUIRE(whole);
  return whole->at("rule").at("properties").as_object();
}

const json::object& schema_of(const json::object& properties, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return properties.at(json::string_view(name.data(), name.size())).as_object();
  return schema_of(properties.at(json::string_view(name.data(), dot)).at("properties").as_object(),
                   name.substr(dot + 1));
}

std::size_t settings_in(const json::object& properties) {
  std::size_t n = 0;
  for (const auto& member : properties) {
    const json::object& one = member.value().as_object();
    n += one.contains("properties") ? settings_in(one.at("properties").as_object()) : 1;
  }
  return n;
}

}  // namespace

TEST_CASE("the schema of the configuration has each setting of the rule, with its bounds and its default") {
  const json::object properties = schema();
  CHECK(settings_in(properties) == analysis::rule_settings().size());
  const analysis::Rules defaults;
  for (const RuleSetting& setting : analysis::rule_settings()) {
    CAPTURE(setting.name);
    const json::object& of_schema = schema_of(properties, setting.name);
    const std::string type(of_schema.at("type").as_string());
    CHECK(type == (setting.is_time() ? "string" : setting.is_whole() ? "integer" : "number"));
    const std::string described(of_schema.at("description").as_string());
    std::string value = setting.text_of(setting.value_in(defaults));
    if (setting.is_time()) {
      const std::string bounds = "from " + setting.text_of(setting.least) + " to " + setting.text_of(setting.most);
      CHECK(described == bounds + "; default " + value);
      continue;
    }
    CHECK(described == "default " + value);
    CHECK(of_schema.at("minimum").to_number<double>() == setting.least);
    CHECK(of_schema.at("maximum").to_number<double>() == setting.most);
  }
}
