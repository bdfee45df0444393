// SPDX-License-Identifier: Apache-2.0
#include "core/load/schema_check.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::load {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxVisits = 20'000;  // limit for visited values, with every reference replaced by its target
constexpr std::size_t kMaxDepth = 64;       // limit with references replaced
constexpr std::size_t kMaxPatternBytes = 256;
constexpr std::uint64_t kMaxRepetitions = 1000;

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

Error wrong(const std::string& pointer, const std::string& what) {
  return invalid("config_schema: " + (pointer.empty() ? "the whole" : pointer) + ": " + what);
}

// Finds patterns that may take exponential time to match: a group with unlimited repetition that has repetitions or
// choices itself, and a reference to a group.
class PatternCheck {
 public:
  explicit PatternCheck(std::string_view pattern) : rest_(pattern) {}

  // Returns the problem; "": none.
  std::string problem() {
    if (rest_.size() > kMaxPatternBytes)
      return std::to_string(rest_.size()) + " bytes long, expected at most " + std::to_string(kMaxPatternBytes);
    while (!rest_.empty() && problem_.empty()) step(take());
    return problem_;
  }

 private:
  struct Group {
    bool repeats_or_chooses = false;
  };

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void step(char c) {
    switch (c) {
      case '\\':
        if (!rest_.empty() && rest_.front() >= '1' && rest_.front() <= '9')
          problem_ = "a reference to a group, expected none";
        if (!rest_.empty()) take();
        ended_ = {};
        return;
      case '[':
        skip_class();
        ended_ = {};
        return;
      case '(':
        groups_.emplace_back();
        return;
      case ')':
        return close_group();
      case '|':
        mark();
        return;
      case '*':
      case '+':
        return repeat(true);
      case '?':
        return repeat(false);
      case '{':
        return repeat(take_bounds());
      default:
        ended_ = {};
    }
  }

  void skip_class() {
    if (!rest_.empty() && rest_.front() == '^') take();
    if (!rest_.empty() && rest_.front() == ']') take();
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\\' && !rest_.empty()) take();
      if (c == ']') return;
    }
  }

  void close_group() {
    ended_ = groups_.empty() ? Group{} : groups_.back();
    if (groups_.empty()) return;
    groups_.pop_back();
    if (ended_.repeats_or_chooses) mark();  // the outer group contains them, too
  }

  // Processes a repetition of the preceding item. `often`: many times or without a limit.
  void repeat(bool often) {
    if (often && ended_.repeats_or_chooses)
      problem_ = "a repeated group with repetitions or choices in it, which may take forever to match";
    mark();
    ended_ = {};
  }

  // Reads bounds such as "{2,5}". Returns whether they allow many repetitions.
  bool take_bounds() {
    const std::string_view bounds = rest_.substr(0, rest_.find('}'));
    rest_.remove_prefix(std::min(rest_.size(), bounds.size() + 1));
    std::uint64_t most = 0;
    std::string_view fields = bounds;
    while (const auto field = next_field(fields, ',')) {
      const Result<std::uint64_t> number = parse_uint(*field);
      most = std::max(most, number.value_or(0));
    }
    if (most > kMaxRepetitions)
      problem_ = "{" + std::string(bounds) + "}, expected at most " + std::to_string(kMaxRepetitions);
    return most > 1 || bounds.ends_with(',');
  }

  void mark() {
    if (!groups_.empty()) groups_.back().repeats_or_chooses = true;
  }

  std::string_view rest_;
  std::vector<Group> groups_;
  Group ended_;  // the group that has just ended
  std::string problem_;
};

// Visits a schema as a compiler does, with references replaced.
class SchemaWalk {
 public:
  explicit SchemaWalk(const json::value& schema) : schema_(schema) {}

  Result<void> visit(const json::value& value, const std::string& pointer) {
    if (++visits_ > kMaxVisits)
      return wrong("", "more than " + std::to_string(kMaxVisits) + " values with its references replaced");
    if (++depth_ > kMaxDepth)
      return wrong(pointer, "deeper than " + std::to_string(kMaxDepth) + " levels with its references replaced");
    if (const auto* object = value.if_object()) TRY(visit_object(*object, pointer));
    if (const auto* array = value.if_array())
      for (std::size_t i = 0; i < array->size(); ++i) TRY(visit((*array)[i], pointer + "/" + std::to_string(i)));
    --depth_;
    return {};
  }

  const SchemaFacts& facts() const { return facts_; }

 private:
  Result<void> visit_object(const json::object& object, const std::string& pointer) {
    for (const auto& member : object) {
      const std::string key(member.key().data(), member.key().size());
      const std::string at = pointer + "/" + key;
      if (key == "$ref" && member.value().is_string()) TRY(follow(view(member.value().as_string()), at));
      if (key == "pattern" && member.value().is_string()) TRY(check_pattern(view(member.value().as_string()), at));
      if (key == "format") facts_.has_patterns = true;
      if (key == "patternProperties" && member.value().is_object())
        for (const auto& one : member.value().as_object()) TRY(check_pattern({one.key().data(), one.key().size()}, at));
      TRY(visit(member.value(), at));
    }
    return {};
  }

  Result<void> follow(std::string_view reference, const std::string& at) {
    const std::string name(reference);
    if (!(reference == "#" || reference.starts_with("#/")) || name.find('%') != std::string::npos)
      return wrong(at, "'" + name + "', expected a place in the schema such as '#/definitions/x'");
    if (std::find(open_.begin(), open_.end(), name) != open_.end() || reference == "#")
      return wrong(at, "'" + name + "' refers to itself");
    json::error_code error;
    const json::value* target = schema_.find_pointer({reference.data() + 1, reference.size() - 1}, error);
    if (target == nullptr) return wrong(at, "'" + name + "' is nowhere in the schema");
    open_.push_back(name);
    TRY(visit(*target, at));
    open_.pop_back();
    return {};
  }

  Result<void> check_pattern(std::string_view pattern, const std::string& at) {
    facts_.has_patterns = true;
    const std::string problem = PatternCheck(pattern).problem();
    if (problem.empty()) return {};
    return wrong(at, "the pattern '" + std::string(pattern.substr(0, kMaxPatternBytes)) + "' has " + problem);
  }

  const json::value& schema_;
  std::vector<std::string> open_;  // references that are being followed
  std::size_t visits_ = 0, depth_ = 0;
  SchemaFacts facts_;
};

Result<void> check_matched_text(std::string_view text) {
  if (text.size() <= kMaxMatchedBytes) return {};
  return invalid("configuration: a text of " + std::to_string(text.size()) + " bytes, expected at most " +
                 std::to_string(kMaxMatchedBytes) + " where the schema has patterns");
}

}  // namespace

Result<SchemaFacts> check_schema(const json::value& schema) {
  SchemaWalk walk(schema);
  TRY(walk.visit(schema, ""));
  return walk.facts();
}

Result<void> check_matched_texts(const json::value& config) {
  if (const auto* text = config.if_string()) return check_matched_text(view(*text));
  if (const auto* array = config.if_array())
    for (const json::value& one : *array) TRY(check_matched_texts(one));
  if (const auto* object = config.if_object())
    for (const auto& member : *object) {
      TRY(check_matched_text({member.key().data(), member.key().size()}));
      TRY(check_matched_texts(member.value()));
    }
  return {};
}

}  // namespace koord::load
