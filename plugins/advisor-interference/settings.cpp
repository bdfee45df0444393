// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/settings.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace koord::interference {
namespace {

using analysis::RuleSetting;
using plugin::Config;

// Returns a JSON pointer like "/rule/blkio/excessMs".
std::string pointer_of(const RuleSetting& setting) {
  std::string name(setting.name);
  std::replace(name.begin(), name.end(), '.', '/');
  return "/rule/" + name;
}

std::optional<double> read(const Config& config, const RuleSetting& setting) {
  const auto checked = [](const Result<double>& value) {
    if (!value) throw plugin::Failure(KOORD_E_INVALID, "rule." + value.error().message());
    return *value;
  };
  if (setting.is_time()) {
    const auto text = config.string(pointer_of(setting));
    return text ? std::optional(checked(rule_value(setting, *text))) : std::nullopt;
  }
  const auto number = config.f64(pointer_of(setting));
  return number ? std::optional(checked(rule_value(setting, *number))) : std::nullopt;
}

}  // namespace

analysis::RuleLayer read_rule(const Config& config) {
  analysis::RuleLayer layer{"configuration", {}};
  for (const RuleSetting& setting : analysis::rule_settings())
    if (const auto value = read(config, setting)) layer.values.push_back({std::string(setting.name), *value});
  analysis::Rules rules;
  if (const auto good = analysis::apply(rules, layer); !good)
    throw plugin::Failure(KOORD_E_INVALID, "rule." + good.error().message());
  return layer;
}

}  // namespace koord::interference
