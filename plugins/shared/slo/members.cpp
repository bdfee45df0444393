// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/slo/members.hpp"

#include <boost/json.hpp>

#include "core/base/quantity.hpp"
#include "core/base/utf8.hpp"
#include "core/json/field.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::slo {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kShown = 64;

std::string shown(const json::value& value) {
  std::string text = json::serialize(value);
  if (text.size() <= kShown) return text;
  cut_utf8(text, kShown);
  return text + "…";
}

std::string expected_number(std::int64_t least, std::int64_t most) {
  std::string expected = "an integer";
  if (least != kLeast && most != kMost)
    return expected + " from " + std::to_string(least) + " to " + std::to_string(most);
  if (least != kLeast) expected += " of at least " + std::to_string(least);
  return most != kMost ? expected + " of at most " + std::to_string(most) : expected;
}

}  // namespace

Result<json::value> parse_object(std::string_view text) {
  json::value value = TRY(read_json(text));
  if (!value.is_object()) return invalid("found " + shown(value) + ", expected a mapping");
  return value;
}

const json::value* Members::find(std::string_view name) const {
  const json::value* found = nullptr;
  for (const auto& member : object_->get_object())
    if (!member.value().is_null() && equal_but_case(member.key(), name)) found = &member.value();
  return found;
}

void Members::number(std::string_view name, Number& value, std::int64_t least, std::int64_t most) const {
  const json::value* member = find(name);
  if (!member) return;
  const Number number = integer_of(*member);
  if (number && *number >= least && *number <= most)
    value = number;
  else
    unexpected(name, *member, expected_number(least, most));
}

void Members::range(std::string_view name, std::optional<std::pair<std::int64_t, std::int64_t>>& value,
                    std::int64_t least, std::int64_t most) const {
  const json::value* member = find(name);
  if (!member) return;
  const json::array* both = member->if_array();
  const Number from = both && both->size() == 2 ? integer_of((*both)[0]) : std::nullopt;
  const Number to = from ? integer_of((*both)[1]) : std::nullopt;
  if (to && *from >= least && *from < *to && *to <= most)
    value.emplace(*from, *to);
  else
    unexpected(
        name, *member,
        "two integers from " + std::to_string(least) + " to " + std::to_string(most) + ", the first the smaller");
}

void Members::flag(std::string_view name, Flag& value) const {
  const json::value* member = find(name);
  if (!member) return;
  if (member->is_bool())
    value = member->get_bool();
  else
    unexpected(name, *member, "true or false");
}

void Members::bytes(std::string_view name, Number& value) const {
  const json::value* member = find(name);
  if (!member) return;
  Number amount = integer_of(*member);
  if (const json::string* text = member->if_string()) {
    const Result<Quantity> quantity = Quantity::parse(text_view(*text));
    if (quantity) amount = quantity->value();
  }
  if (amount && *amount >= 0)
    value = amount;
  else
    unexpected(name, *member, "a quantity such as \"10Gi\"");
}

void Members::text(std::string_view name, std::string& value) const {
  const json::value* member = find(name);
  if (!member) return;
  const json::string* text = member->if_string();
  if (text && text->size() <= kMaxText && text->find('\0') == json::string::npos)
    value = text_view(*text);
  else
    unexpected(name, *member, "text");
}

void Members::flags(std::string_view name, std::map<std::string, bool>& values) const {
  const std::optional<Members> features = object(name);
  if (!features) return;
  for (const auto& member : features->object_->get_object()) {
    if (member.value().is_null()) continue;
    const std::string feature(member.key().data(), member.key().size());
    if (member.value().is_bool())
      values[feature] = member.value().get_bool();
    else
      features->unexpected(feature, member.value(), "true or false");
  }
}

// Returns nullopt for an empty word.
std::optional<std::string> Members::word(std::string_view name) const {
  const json::value* member = find(name);
  if (!member) return std::nullopt;
  const json::string* text = member->if_string();
  if (!text) {
    unexpected(name, *member, "text");
    return std::nullopt;
  }
  return text->empty() ? std::nullopt : std::optional(std::string(text_view(*text)));
}

void Members::unknown_choice(std::string_view name, std::string_view word) const {
  report(name,
         "found " + shown(json::value(json::string_view(word.data(), word.size()))) + ", which is no known choice");
}

std::optional<Members> Members::object(std::string_view name) const {
  const json::value* member = find(name);
  if (!member) return std::nullopt;
  if (member->is_object()) return Members(*member, below(name), *problems_);
  unexpected(name, *member, "a mapping");
  return std::nullopt;
}

const json::value* Members::list(std::string_view name) const {
  const json::value* member = find(name);
  if (!member || member->is_array()) return member;
  unexpected(name, *member, "a list");
  return nullptr;
}

std::size_t Members::size_of(const json::value& list) { return list.get_array().size(); }

std::optional<Members> Members::element(const json::value& list, std::string_view name, std::size_t index) const {
  const std::string place = std::string(name) + '[' + std::to_string(index) + ']';
  const json::value& entry = list.get_array()[index];
  if (entry.is_object()) return Members(entry, below(place), *problems_);
  unexpected(place, entry, "a mapping");
  return std::nullopt;
}

std::string Members::below(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + '.' + std::string(name);
}

void Members::unexpected(std::string_view name, const json::value& found, std::string_view expected) const {
  report(name, "found " + shown(found) + ", expected " + std::string(expected));
}

void Members::report(std::string_view name, std::string_view what) const {
  problems_->push_back(below(name) + ": " + std::string(what));
}

}  // namespace koord::slo
