// SPDX-License-Identifier: Apache-2.0
// A schema is a table of keys, each with its path, type, default and help, and the member it fills. Reading a
// document, its errors and the reference all come from it. Inside core/config only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/document.hpp"
#include "core/config/reference.hpp"
#include "core/config/report.hpp"
#include "core/config/value_type.hpp"

namespace koord::config {

template <class Target>
struct Key {
  std::string_view path;           // "store.maxBytes"
  std::string_view default_value;  // as YAML; "" = none, the member stays as it is made
  std::string_view help;
  std::string type;
  std::function<void(const Node&, const std::string& path, Target&, Report&)> assign;
};

// A row of the table: `member` names what the key fills, [](Config& c) -> auto& { return c.store.max_bytes;
// }.
template <class Target, class T, class Member>
Key<Target> make_key(std::string_view path, std::string_view default_value, std::string_view help, ValueType<T> type,
                     Member member) {
  return {path, default_value, help, type.name,
          [read = type.read, member](const Node& node, const std::string& at, Target& target, Report& report) {
            if (auto value = read(node, at, report)) member(target) = *std::move(value);
          }};
}

template <class Target>
using Schema = std::vector<Key<Target>>;

// The two tables.
const Schema<Config>& config_schema();
Schema<Config> report_keys();                   // a part of it
const Schema<PluginSettings>& plugin_schema();  // one plugin's part of plugins.settings

// Fills every key that has a default.
template <class Target>
void apply_defaults(const Schema<Target>& schema, Target& target, Report& report);

// Fills the keys that the mapping has; a key without a value keeps its default. `at` stands in front of the
// paths in errors: "" or "plugins.settings.advisor-x.".
template <class Target>
void apply_document(const Schema<Target>& schema, const Node& root, const std::string& at, Target& target,
                    Report& report);

extern template void apply_defaults(const Schema<Config>&, Config&, Report&);
extern template void apply_defaults(const Schema<PluginSettings>&, PluginSettings&, Report&);
extern template void apply_document(const Schema<Config>&, const Node&, const std::string&, Config&, Report&);
extern template void apply_document(const Schema<PluginSettings>&, const Node&, const std::string&, PluginSettings&,
                                    Report&);

}  // namespace koord::config
