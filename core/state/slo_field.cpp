// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_field.hpp"

#include <algorithm>

#include "core/base/parse.hpp"
#include "core/state/document.hpp"

namespace koord::state {
namespace {

void collect(std::span<const SloField> fields, const SloLeaf& above, std::vector<SloLeaf>& leaves) {
  for (const SloField& field : fields) {
    SloLeaf leaf = above;
    leaf.path += (leaf.path.empty() ? "" : ".") + std::string(field.name);
    leaf.names.push_back(field.name);
    leaf.field = &field;
    if (field.type != SloType::object) {
      leaves.push_back(std::move(leaf));
      continue;
    }
    if (field.profile != SloProfile::general) leaf.profile = field.profile;
    leaf.section = &field;
    collect(field.fields, leaf, leaves);
  }
}

bool ends_in(std::string_view path, std::string_view end) {
  if (path.size() < end.size() || !equal_but_case(path.substr(path.size() - end.size()), end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '.';
}

using Found = std::vector<const SloLeaf*>;

Found leaves_that_end_in(std::string_view name) {
  Found found;
  for (const SloLeaf& leaf : slo_leaves()) {
    if (equal_but_case(leaf.path, name)) return {&leaf};
    if (ends_in(leaf.path, name)) found.push_back(&leaf);
  }
  return found;
}

bool is_of_class(const SloLeaf& leaf, std::string_view section) {
  return leaf.names.size() > 1 && leaf.names[1] == section;
}

std::string paths_of(const Found& leaves) {
  std::vector<std::string> paths;
  for (const SloLeaf* leaf : leaves) paths.push_back(leaf->path);
  return join(paths, ", ");
}

Error unknown(std::string_view name) {
  std::vector<std::string> candidates;
  for (const SloLeaf& leaf : slo_leaves()) {
    candidates.push_back(leaf.path);
    candidates.emplace_back(leaf.field->name);
  }
  const std::string near = nearest(name, candidates);
  return invalid("a NodeSLO has no field '" + std::string(name.substr(0, 128)) + "'" +
                 (near.empty() ? std::string() : "; the nearest is '" + near + "'"));
}

// Returns the fields below a section; none if `name` is not a section.
Found fields_of_section(std::string_view name) {
  Found found;
  for (const SloLeaf& leaf : slo_leaves())
    if (leaf.section && ends_in(std::string_view(leaf.path).substr(0, leaf.path.rfind('.')), name))
      found.push_back(&leaf);
  return found;
}

}  // namespace

const std::vector<SloLeaf>& slo_leaves() {
  static const std::vector<SloLeaf> kLeaves = [] {
    std::vector<SloLeaf> leaves;
    collect(slo_schema(), {}, leaves);
    return leaves;
  }();
  return kLeaves;
}

Result<const SloLeaf*> find_slo_field(std::string_view name, const Pod* pod) {
  if (name.starts_with("spec.")) name.remove_prefix(5);
  Found found = name.empty() ? Found() : leaves_that_end_in(name);
  if (found.size() > 1 && pod) {
    Found of_class;
    for (const SloLeaf* leaf : found)
      if (is_of_class(*leaf, class_section_of(pod->koord_qos))) of_class.push_back(leaf);
    if (!of_class.empty()) found = std::move(of_class);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) return invalid("'" + std::string(name) + "' is one of several fields: " + paths_of(found));
  if (Found inside = name.empty() ? Found() : fields_of_section(name); !inside.empty())
    return invalid("'" + std::string(name) + "' is a section; its fields are " + paths_of(inside));
  return unknown(name);
}

std::string_view class_section_of(KoordQos qos) {
  switch (qos) {
    case KoordQos::lse:
    case KoordQos::lsr:
      return "lsrClass";
    case KoordQos::ls:
      return "lsClass";
    case KoordQos::be:
      return "beClass";
    case KoordQos::system:
      return "systemClass";
    case KoordQos::none:
      return "";
  }
  return "";
}

}  // namespace koord::state
