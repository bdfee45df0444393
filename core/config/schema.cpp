// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/config/manager_schema.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

// Returns the names that may follow `prefix` ("" or "store."): last parts of keys and names of sections.
template <class Target>
std::vector<std::string> names_below(const Schema<Target>& schema, std::string_view prefix) {
  std::vector<std::string> names;
  for (const Key<Target>& key : schema) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view rest = key.path.substr(prefix.size());
    std::string name(rest.substr(0, rest.find('.')));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

template <class Target>
class DocumentReader {
 public:
  DocumentReader(const Schema<Target>& schema, const std::string& at, Target& target, Report& report)
      : schema_(schema), at_(at), target_(target), report_(report) {}

  void read_section(const Node& section, const std::string& prefix) {
    if (section.kind == NodeKind::null) return;
    if (section.kind != NodeKind::mapping) return report_no_mapping(section, prefix);
    for (const Entry& entry : section.entries) read_entry(entry, prefix);
  }

 private:
  void read_entry(const Entry& entry, const std::string& prefix) {
    // A key of the document is one name, not a path.
    if (entry.key.find('.') != entry.key.npos) return report_unknown(entry, prefix);
    const std::string path = prefix + entry.key;
    const auto key = std::find_if(schema_.begin(), schema_.end(), [&](const auto& k) { return k.path == path; });
    if (key != schema_.end()) {
      if (entry.value.kind != NodeKind::null) key->assign(entry.value, at_ + path, target_, report_);
    } else if (is_section(path)) {
      read_section(entry.value, path + ".");
    } else {
      report_unknown(entry, prefix);
    }
  }

  bool is_section(const std::string& path) const {
    return std::any_of(schema_.begin(), schema_.end(), [&](const auto& k) { return k.path.starts_with(path + "."); });
  }

  void report_no_mapping(const Node& section, const std::string& prefix) {
    std::string name = at_ + prefix;
    if (!name.empty()) name.back() = ':';
    report_.add(section.place, name + (name.empty() ? "" : " ") + "expected a mapping, found " + describe(section));
  }

  void report_unknown(const Entry& entry, const std::string& prefix) {
    if (report_.full()) return report_.add(entry.place, "unknown key");
    const std::vector<std::string> names = names_below(schema_, prefix);
    const std::string near = nearest(entry.key, names);
    const std::string hint =
        near.empty() ? ", expected one of " + join(names, ", ") : ", did you mean '" + at_ + prefix + near + "'?";
    report_.add(entry.place, "unknown key '" + at_ + prefix + entry.key + "'", hint);
  }

  const Schema<Target>& schema_;
  const std::string& at_;
  Target& target_;
  Report& report_;
};

}  // namespace

template <class Target>
void apply_defaults(const Schema<Target>& schema, Target& target, Report& report) {
  for (const Key<Target>& key : schema) {
    if (key.default_value.empty()) continue;
    const std::string path(key.path);
    const Result<Node> value = read_yaml(key.default_value, "the default of '" + path + "'", report);
    if (value)
      key.assign(*value, path, target, report);
    else
      report.add(value.error());
  }
}

template <class Target>
void apply_document(const Schema<Target>& schema, const Node& root, const std::string& at, Target& target,
                    Report& report) {
  DocumentReader<Target>(schema, at, target, report).read_section(root, "");
}

template void apply_defaults(const Schema<Config>&, Config&, Report&);
template void apply_defaults(const Schema<PluginSettings>&, PluginSettings&, Report&);
template void apply_document(const Schema<Config>&, const Node&, const std::string&, Config&, Report&);
template void apply_document(const Schema<PluginSettings>&, const Node&, const std::string&, PluginSettings&, Report&);
template void apply_defaults(const Schema<ManagerConfig>&, ManagerConfig&, Report&);
template void apply_document(const Schema<ManagerConfig>&, const Node&, const std::string&, ManagerConfig&, Report&);

}  // namespace koord::config
