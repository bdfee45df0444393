// SPDX-License-Identifier: Apache-2.0
#include "core/state/label_selector.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "core/base/object_name.hpp"
#include "core/base/printable.hpp"
#include "core/json/reader.hpp"
#include "core/state/slo_merge.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;

std::string selector_text(const json::value* value) {
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

// A label as one text. Neither part of a label has a '='.
std::string label_text(std::string_view key, std::string_view value) {
  return std::string(key).append("=").append(value);
}

bool has_label(const StringMap& labels, const std::string& key, const json::value* values) {
  const auto label = labels.find(key);
  if (label == labels.end() || !values || !values->is_array()) return false;
  const json::array& list = values->get_array();
  return std::any_of(list.begin(), list.end(),
                     [&](const json::value& v) { return selector_text(&v) == label->second; });
}

bool holds(const json::value& expression, const StringMap& labels) {
  const std::string key = selector_text(find_member(expression, "key")),
                    oper = selector_text(find_member(expression, "operator"));
  const json::value* values = find_member(expression, "values");
  if (oper == "In") return has_label(labels, key, values);
  if (oper == "NotIn") return !has_label(labels, key, values);
  if (oper == "Exists") return labels.contains(key);
  return oper == "DoesNotExist" && !labels.contains(key);
}

bool match_labels(const json::value& wanted, const StringMap& labels) {
  const json::object* object = wanted.if_object();
  return object && std::all_of(object->begin(), object->end(), [&](const auto& member) {
           const auto label = labels.find(std::string_view(member.key()));
           return label != labels.end() && label->second == selector_text(&member.value());
         });
}

std::string key_problem(std::string_view key) {
  if (is_label_key(key)) return {};
  return "found the key '" + printable(key) + "', expected " + std::string(kLabelKeyRule);
}

std::string value_problem(const json::value& value) {
  if (!value.is_string()) return "found " + shown(value) + ", expected text";
  const std::string_view text = text_view(value.get_string());
  if (is_label_value(text)) return {};
  return "found " + shown(value) + ", expected " + std::string(kLabelValueRule);
}

// Returns the first problem with a label and its value.
std::string labels_problem(const json::value& wanted) {
  const json::object* labels = wanted.if_object();
  if (!labels) return "found " + shown(wanted) + ", expected a mapping of texts";
  for (const auto& [key, value] : *labels) {
    if (std::string problem = key_problem(key); !problem.empty()) return problem;
    if (std::string problem = value_problem(value); !problem.empty()) return std::string(key) + ": " + problem;
  }
  return {};
}

std::string expression_problem(const json::value& expression) {
  const std::string key = selector_text(find_member(expression, "key")),
                    oper = selector_text(find_member(expression, "operator"));
  const json::value* values = find_member(expression, "values");
  const bool has_values = values && values->is_array() && !values->get_array().empty();
  const bool needs_values = oper == "In" || oper == "NotIn";
  const bool is_complete =
      !key.empty() && (needs_values || oper == "Exists" || oper == "DoesNotExist") && has_values == needs_values;
  if (!is_complete)
    return "found " + shown(expression) +
           ", expected a key, an operator of In, NotIn, Exists and DoesNotExist, and values for the first two only";
  if (std::string problem = key_problem(key); !problem.empty()) return problem;
  if (needs_values)
    for (const json::value& value : values->get_array())
      if (std::string problem = value_problem(value); !problem.empty()) return "values of " + key + ": " + problem;
  return {};
}

// Returns the labels that the selector wants, without those that are no texts.
std::vector<std::string> wanted_labels(const json::value& selector) {
  std::vector<std::string> labels;
  const json::value* wanted = find_member(selector, "matchLabels");
  const json::object* object = wanted ? wanted->if_object() : nullptr;
  if (!object) return labels;
  for (const auto& [key, value] : *object)
    if (value.is_string()) labels.push_back(label_text(key, value.get_string()));
  return labels;
}

}  // namespace

bool selects(const json::value* selector, const StringMap& labels) {
  if (!selector || !selector->is_object()) return false;
  if (const json::value* wanted = find_member(*selector, "matchLabels"); wanted && !match_labels(*wanted, labels))
    return false;
  const json::value* expressions = find_member(*selector, "matchExpressions");
  if (!expressions) return true;
  const json::array* list = expressions->if_array();
  return list && std::all_of(list->begin(), list->end(), [&](const json::value& e) { return holds(e, labels); });
}

std::string selector_problem(const json::value* selector) {
  if (!selector) return {};
  if (!selector->is_object()) return "found " + shown(*selector) + ", expected a label selector";
  if (const json::value* wanted = find_member(*selector, "matchLabels"))
    if (std::string problem = labels_problem(*wanted); !problem.empty()) return "matchLabels: " + problem;
  const json::value* expressions = find_member(*selector, "matchExpressions");
  if (!expressions) return {};
  if (!expressions->is_array()) return "matchExpressions: found " + shown(*expressions) + ", expected a list";
  for (const json::value& expression : expressions->get_array())
    if (std::string problem = expression_problem(expression); !problem.empty()) return "matchExpressions: " + problem;
  return {};
}

void FirstSelector::add(const json::value* selector) {
  const std::size_t index = selectors_.size();
  selectors_.push_back(selector);
  if (!selector) return;
  const std::vector<std::string> labels = wanted_labels(*selector);
  const auto selectors_of = [&](const std::string& label) {
    const auto found = by_label_.find(label);
    return found == by_label_.end() ? 0 : found->second.size();
  };
  if (labels.empty())
    others_.push_back(index);
  else
    by_label_[*std::ranges::min_element(labels, {}, selectors_of)].push_back(index);
}

std::optional<std::size_t> FirstSelector::index_for(const StringMap& labels) const {
  std::size_t first = selectors_.size();
  const auto look_in = [&](const std::vector<std::size_t>& candidates) {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t index) {
      return index >= first || selects(selectors_[index], labels);
    });
    if (found != candidates.end()) first = std::min(first, *found);
  };
  look_in(others_);
  for (const auto& [key, value] : labels)
    if (const auto found = by_label_.find(label_text(key, value)); found != by_label_.end()) look_in(found->second);
  return first < selectors_.size() ? std::optional(first) : std::nullopt;
}

}  // namespace koord::state
