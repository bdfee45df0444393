// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_merge.hpp"

#include <algorithm>
#include <set>

#include "core/base/parse.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/json/members.hpp"
#include "core/state/document.hpp"
#include "core/state/slo_inactive.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

constexpr std::size_t kMaxText = 4096;

std::string_view view(const json::value& text) { return {text.get_string().data(), text.get_string().size()}; }

std::optional<json::value> taken_integer(const SloField& field, const json::value& value) {
  const std::optional<std::int64_t> number = integer_of(value);
  if (!number || *number < field.least || *number > field.most) return std::nullopt;
  return json::value(*number);
}

bool is_choice(std::string_view word, std::string_view choices) {
  while (auto choice = next_field(choices, '|'))
    if (*choice == word) return true;
  return false;
}

bool is_quantity(const json::value& value) {
  if (value.is_string()) {
    const Result<Quantity> quantity = Quantity::parse(view(value));
    return quantity && quantity->value() >= 0;
  }
  const std::optional<std::int64_t> number = integer_of(value);
  return number && *number >= 0;
}

bool is_text(const json::value& value) {
  return value.is_string() && value.get_string().size() <= kMaxText && view(value).find('\0') == std::string_view::npos;
}

bool stays_below(std::string_view path) {
  while (auto part = next_field(path, '/'))
    if (*part == ".." || *part == ".") return false;
  return true;
}

// Erases a member. The other members keep their order, so the same specification always gives the same text.
void erase(json::object& object, std::string_view name) {
  if (const auto member = object.find(name); member != object.end()) object.stable_erase(member);
}

bool are_flags(const json::value& value) {
  const json::object* object = value.if_object();
  return object && std::all_of(object->begin(), object->end(),
                               [](const auto& member) { return member.value().is_bool() || member.value().is_null(); });
}

class Merger {
 public:
  explicit Merger(std::vector<SloProblem>& problems) : problems_(problems) {}

  json::object merge_spec(const json::value& received) {
    inactive_ = InactiveStrategies(received);
    json::object merged = merge(received, slo_schema(), SloProfile::general, {});
    inactive_.write(merged);
    return merged;
  }

 private:
  json::object merge(const json::value& received, std::span<const SloField> fields, SloProfile profile,
                     const std::string& path) {
    json::object merged;
    const std::size_t first = problems_.size();
    for (const SloField& field : fields) merge_field(received, field, profile, path, merged);
    keep_order(fields, profile, path, received, merged);
    note_inactive(fields, profile, path, first);
    drop_inactive(fields, profile, merged);
    add_unknown(received, fields, merged);
    return merged;
  }

  // Makes the strategies of these fields inactive if one of the problems from `first` on is about the field.
  void note_inactive(std::span<const SloField> fields, SloProfile profile, const std::string& path, std::size_t first) {
    for (std::size_t i = first; i < problems_.size(); ++i)
      for (const SloField& field : fields)
        if (!field.strategies.empty() && problems_[i].path == below(path, field.name))
          inactive_.add(strategies_of(field, profile), problems_[i]);
  }

  void note_inactive_section(const SloField& section, SloProfile profile) {
    std::set<std::string> strategies;
    for (const SloField& field : section.fields)
      for (std::string& name : strategies_of(field, profile)) strategies.insert(std::move(name));
    if (!strategies.empty()) inactive_.add({strategies.begin(), strategies.end()}, problems_.back());
  }

  void drop_inactive(std::span<const SloField> fields, SloProfile profile, json::object& merged) const {
    for (const SloField& field : fields) {
      if (!inactive_.cover(field, profile)) continue;
      if (field.inactive.empty())
        erase(merged, field.name);
      else
        merged[field.name] = *read_json(field.inactive);
    }
  }

  static std::string below(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + '.' + std::string(name);
  }

  void report(const std::string& path, const json::value& found, std::string expected) {
    problems_.push_back({path, shown(found), std::move(expected), {}});
  }

  void merge_field(const json::value& received, const SloField& field, SloProfile profile, const std::string& path,
                   json::object& merged) {
    const json::value* value = find_member(received, field.name);
    const std::string place = below(path, field.name);
    if (field.type == SloType::object) return merge_section(value, field, profile, place, merged);
    if (field.type == SloType::list) return merge_list(value, field, place, merged);
    if (value && field.type == SloType::choice && value->is_string() && value->get_string().empty()) value = nullptr;
    if (value) {
      if (std::optional<json::value> taken = taken_value(field, *value)) {
        merged[field.name] = *std::move(taken);
        return;
      }
      report(place, *value, expected_of(field));
    }
    if (std::optional<json::value> fallback = default_of(field, profile)) merged[field.name] = *std::move(fallback);
  }

  void merge_section(const json::value* value, const SloField& section, SloProfile profile, const std::string& place,
                     json::object& merged) {
    if (section.profile != SloProfile::general) profile = section.profile;
    if (value && !value->is_object()) {
      report(place, *value, expected_of(section));
      note_inactive_section(section, profile);
      value = nullptr;
    }
    json::object inner = merge(value ? *value : json::value(), section.fields, profile, place);
    if (is_switched(section)) switch_off(section, profile, inner);
    if (value || !inner.empty()) merged[section.name] = std::move(inner);
  }

  // Removes all values of a class's section that is off, except values that undo its settings.
  static void switch_off(const SloField& section, SloProfile profile, json::object& values) {
    const bool of_class = profile == SloProfile::lsr || profile == SloProfile::ls || profile == SloProfile::be;
    const json::value* enable = values.if_contains("enable");
    if (!of_class || !enable || *enable == json::value(true)) return;
    for (const SloField& field : section.fields) {
      if (field.defaults.off.empty())
        erase(values, field.name);
      else
        values[field.name] = *read_json(field.defaults.off);
    }
  }

  void merge_list(const json::value* value, const SloField& list, const std::string& place, json::object& merged) {
    if (!value) return;
    const json::array* entries = value->if_array();
    if (!entries) return report(place, *value, expected_of(list));
    json::array taken;
    for (std::size_t i = 0; i < entries->size(); ++i)
      if (std::optional<json::object> entry = merge_entry((*entries)[i], list, place + '[' + std::to_string(i) + ']'))
        taken.push_back(*std::move(entry));
    merged[list.name] = std::move(taken);
  }

  // Returns nullopt if the entry lacks a required member or a vital member is invalid.
  std::optional<json::object> merge_entry(const json::value& entry, const SloField& list, const std::string& place) {
    if (!entry.is_object()) {
      report(place, entry, "a mapping");
      return std::nullopt;
    }
    const std::size_t first = problems_.size();
    json::object merged = merge(entry, list.fields, SloProfile::general, place);
    bool lost = false;
    for (const SloField& field : list.fields) {
      const json::value* value = merged.if_contains(field.name);
      const bool missing = field.required && (!value || (value->is_string() && value->get_string().empty()));
      const std::string path = below(place, field.name);
      const bool is_reported =
          std::any_of(problems_.begin() + static_cast<std::ptrdiff_t>(first), problems_.end(),
                      [&](const SloProblem& p) { return p.path == path || p.path.starts_with(path + '.'); });
      if (missing && !is_reported) report(path, value ? *value : json::value(), expected_of(field));
      lost = lost || missing || (field.vital && is_reported);
    }
    return lost ? std::nullopt : std::optional(std::move(merged));
  }

  // Rejects both received values if lower ≥ upper.
  void keep_order(std::span<const SloField> fields, SloProfile profile, const std::string& path,
                  const json::value& received, json::object& merged) {
    for (const SloField& lower : fields) {
      if (lower.below.empty()) continue;
      const auto upper =
          std::find_if(fields.begin(), fields.end(), [&](const SloField& f) { return f.name == lower.below; });
      const json::value* low = merged.if_contains(lower.name);
      const json::value* high = merged.if_contains(upper->name);
      if (!low || !high || low->as_int64() < high->as_int64()) continue;
      const std::string expected = "less than " + std::string(upper->name) + ", which is " + shown(*high);
      report(below(path, lower.name), *low, expected);
      restore(lower, profile, received, merged);
      restore(*upper, profile, received, merged);
    }
  }

  static void restore(const SloField& field, SloProfile profile, const json::value& received, json::object& merged) {
    if (!find_member(received, field.name)) return;
    if (std::optional<json::value> fallback = default_of(field, profile))
      merged[field.name] = *std::move(fallback);
    else
      erase(merged, field.name);
  }

  static void add_unknown(const json::value& received, std::span<const SloField> fields, json::object& merged) {
    const json::object* object = received.if_object();
    if (!object) return;
    for (const auto& member : *object) {
      const bool known = std::any_of(fields.begin(), fields.end(),
                                     [&](const SloField& f) { return equal_but_case(f.name, member.key()); });
      if (!known) merged[member.key()] = member.value();
    }
  }

  std::vector<SloProblem>& problems_;
  InactiveStrategies inactive_;
};

}  // namespace

std::optional<json::value> taken_value(const SloField& field, const json::value& value) {
  auto when = [&](bool right) { return right ? std::optional(value) : std::nullopt; };
  switch (field.type) {
    case SloType::boolean:
      return when(value.is_bool());
    case SloType::integer:
      return taken_integer(field, value);
    case SloType::choice:
      return when(value.is_string() && is_choice(view(value), field.choices));
    case SloType::text:
      return when(is_text(value));
    case SloType::path:
      return when(is_text(value) && stays_below(view(value)));
    case SloType::quantity:
      return when(is_quantity(value));
    case SloType::share:
      return value.is_string() ? when(is_quantity(value)) : taken_integer(field, value);
    case SloType::flags:
      return when(are_flags(value));
    default:
      return value;
  }
}

const json::value* find_member(const json::value& object, std::string_view name) {
  const json::value* found = nullptr;
  if (const json::object* members = object.if_object())
    for (const auto& member : *members)
      if (!member.value().is_null() && equal_but_case(member.key(), name)) found = &member.value();
  return found;
}

std::string shown(const json::value& value) {
  constexpr std::size_t kMostShown = 64;
  return printable(json::serialize(value), kMostShown);
}

std::optional<json::value> default_of(const SloField& field, SloProfile profile) {
  const std::string_view text = field.defaults.of(profile);
  return text.empty() ? std::nullopt : std::optional(*read_json(text));
}

json::object merge_slo(const json::value& received, std::vector<SloProblem>& problems) {
  return Merger(problems).merge_spec(received);
}

}  // namespace koord::state
