// SPDX-License-Identifier: Apache-2.0
#include "core/report/reduction.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <variant>

#include "core/base/parse.hpp"
#include "core/report/json_text.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

using Step = std::variant<std::string, std::size_t>;  // the name of a member, or the index of an entry
using Path = std::vector<Step>;

// Returns the longest member name that `field` begins with. Names may contain dots, as names of resources do.
std::optional<std::string> member_in(const json::object& object, std::string_view field) {
  std::optional<std::string> longest;
  for (const auto& member : object) {
    const std::string_view name(member.key().data(), member.key().size());
    const bool begins = field.starts_with(name) &&
                        (field.size() == name.size() || field[name.size()] == '.' || field[name.size()] == '[');
    if (begins && (!longest || name.size() > longest->size())) longest = std::string(name);
  }
  return longest;
}

// Returns the index of "[3]…"; nullopt if the text is not an index, or the list has no entry with this index.
std::optional<std::size_t> index_in(const json::array& array, std::string_view& field) {
  const std::size_t end = field.find(']');
  if (!field.starts_with('[') || end == std::string_view::npos) return std::nullopt;
  const Result<std::uint64_t> index = parse_uint(field.substr(1, end - 1));
  if (!index || *index >= array.size()) return std::nullopt;
  field.remove_prefix(end + 1);
  return static_cast<std::size_t>(*index);
}

struct Found {
  Path path;          // the part that exists in the object
  bool whole = true;  // the whole field exists in the object
};

Found find_field(const json::value& root, std::string_view field) {
  Found found;
  const json::value* at = &root;
  while (!field.empty()) {
    if (field.starts_with('.')) field.remove_prefix(1);
    if (const json::object* object = at->if_object()) {
      const std::optional<std::string> name = member_in(*object, field);
      if (!name) break;
      field.remove_prefix(name->size());
      at = &object->at(*name);
      found.path.emplace_back(*name);
    } else if (const json::array* array = at->if_array()) {
      const std::optional<std::size_t> index = index_in(*array, field);
      if (!index) break;
      at = &(*array)[*index];
      found.path.emplace_back(*index);
    } else {
      break;
    }
  }
  found.whole = field.empty();
  return found;
}

std::string field_of(const Path& path, bool with_indexes) {
  std::string text;
  for (const Step& step : path) {
    if (const auto* index = std::get_if<std::size_t>(&step))
      text += with_indexes ? '[' + std::to_string(*index) + ']' : "[]";
    else
      text += (text.empty() ? "" : ".") + std::get<std::string>(step);
  }
  return text;
}

bool is_at_or_below(std::string_view field, std::string_view above) {
  return field.starts_with(above) &&
         (field.size() == above.size() || field[above.size()] == '.' || field[above.size()] == '[');
}

// Returns the outermost part that contains `path` and is left out only as a whole.
Path widened(const Path& path, const ReductionRules& rules) {
  for (std::size_t size = 1; size <= path.size(); ++size) {
    Path part(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(size));
    if (std::find(rules.whole.begin(), rules.whole.end(), field_of(part, false)) != rules.whole.end()) return part;
  }
  return path;
}

bool is_needed(const Path& path, const ReductionRules& rules) {
  const std::string field = field_of(path, false);
  return path.size() < 2 || std::any_of(rules.needed.begin(), rules.needed.end(), [&](const std::string& needed) {
           return is_at_or_below(field, needed) || is_at_or_below(needed, field);
         });
}

void erase_at(json::value& root, const Path& path) {
  json::value* at = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Step& step = path[i];
    if (const auto* index = std::get_if<std::size_t>(&step))
      at = &at->as_array()[*index];
    else
      at = &at->as_object()[std::get<std::string>(step)];
  }
  if (const auto* index = std::get_if<std::size_t>(&path.back()))
    at->as_array().erase(at->as_array().begin() + static_cast<std::ptrdiff_t>(*index));
  else
    at->as_object().erase(std::get<std::string>(path.back()));
}

}  // namespace

Result<std::vector<std::string>> parts_to_leave_out(std::string_view object,
                                                    const std::vector<kube::Status::Cause>& causes,
                                                    const ReductionRules& rules) {
  const json::value root = TRY(parse_root(object, "object"));
  std::vector<std::string> parts;
  for (const kube::Status::Cause& cause : causes) {
    Found found = find_field(root, cause.field);
    // If a required member is missing, the object that lacks it is left out.
    const Path path = widened(found.path, rules);
    if (cause.field.empty() || is_needed(path, rules)) return invalid("'" + cause.field + "' cannot be left out");
    parts.push_back(field_of(path, true));
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.empty()) return invalid("the refusal names no field");
  return parts;
}

Result<std::string> without(std::string_view object, const std::vector<std::string>& fields) {
  json::value root = TRY(parse_root(object, "object"));
  std::vector<Path> paths;
  for (const std::string& field : fields) {
    Found found = find_field(root, field);
    if (found.whole && !found.path.empty()) paths.push_back(std::move(found.path));
  }
  // Erases the last entries of a list first, because erasing moves later entries. If one path is inside a different
  // one, the inner path is erased first.
  std::sort(paths.begin(), paths.end(), std::greater<>());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const Path& path : paths) erase_at(root, path);
  return json::serialize(root);
}

}  // namespace koord::report
