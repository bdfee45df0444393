// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/selector.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"

namespace koord::aggregated {
namespace {

constexpr std::size_t kMaxTerms = 64;

bool is_key_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '/';
}

// A tokenizer for label selectors.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  // Reads letters, digits and "-_./". The result may be empty.
  std::string_view word() {
    skip_spaces();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_key_byte);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    return word;
  }
  // Reads this word if it is the whole next word.
  bool take_word(std::string_view wanted) {
    const std::string_view before = rest_;
    if (word() == wanted) return true;
    rest_ = before;
    return false;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

Result<std::set<std::string, std::less<>>> parse_set(Tokens& tokens) {
  if (!tokens.take("(")) return invalid("expected '(' behind 'in' or 'notin'");
  std::set<std::string, std::less<>> values;
  do {
    values.emplace(tokens.word());
    if (values.size() > kMaxTerms) return invalid("more than " + std::to_string(kMaxTerms) + " values");
  } while (tokens.take(","));
  if (!tokens.take(")")) return invalid("expected ')' or ',' in a list of values");
  return values;
}

Result<LabelTerm> parse_comparison(Tokens& tokens, LabelTerm term) {
  using Kind = LabelTerm::Kind;
  if (tokens.take("!="))
    term.kind = Kind::not_in;
  else if (tokens.take("==") || tokens.take("="))
    term.kind = Kind::in;
  else if (tokens.take(">"))
    term.kind = Kind::greater;
  else if (tokens.take("<"))
    term.kind = Kind::less;
  else
    return term;
  term.values.emplace(tokens.word());
  const bool is_number = term.kind == Kind::greater || term.kind == Kind::less;
  if (is_number && !parse_int(*term.values.begin())) return invalid("expected a whole number behind '>' or '<'");
  return term;
}

Result<LabelTerm> parse_term(Tokens& tokens) {
  using Kind = LabelTerm::Kind;
  LabelTerm term;
  if (tokens.take("!")) term.kind = Kind::not_exists;
  term.key = tokens.word();
  if (term.key.empty()) return invalid("expected the name of a label");
  if (term.kind == Kind::not_exists) return term;
  const bool is_in = tokens.take_word("in"), is_not_in = !is_in && tokens.take_word("notin");
  if (!is_in && !is_not_in) return parse_comparison(tokens, std::move(term));
  term.kind = is_in ? Kind::in : Kind::not_in;
  term.values = TRY(parse_set(tokens));
  return term;
}

}  // namespace

bool LabelTerm::matches(const Labels& labels) const {
  const auto found = labels.find(key);
  const bool has_it = found != labels.end();
  switch (kind) {
    case Kind::exists:
      return has_it;
    case Kind::not_exists:
      return !has_it;
    case Kind::in:
      return has_it && values.contains(found->second);
    case Kind::not_in:
      return !has_it || !values.contains(found->second);
    case Kind::greater:
    case Kind::less:
      break;
  }
  const auto number = has_it ? parse_int(found->second) : Result<std::int64_t>(invalid("no label"));
  const auto bound = parse_int(*values.begin());
  return number && bound && (kind == Kind::greater ? *number > *bound : *number < *bound);
}

Result<std::vector<LabelTerm>> parse_label_selector(std::string_view text) {
  Tokens tokens(text);
  std::vector<LabelTerm> terms;
  if (tokens.at_end()) return terms;
  do {
    if (terms.size() == kMaxTerms) return invalid("more than " + std::to_string(kMaxTerms) + " terms");
    terms.push_back(TRY(parse_term(tokens)));
  } while (tokens.take(","));
  if (!tokens.at_end()) return invalid("found an unexpected character behind '" + terms.back().key + "'");
  return terms;
}

Result<void> Selector::take_field(std::string_view term) {
  const std::size_t at = term.find('=');
  if (at == term.npos) return invalid("'" + std::string(term) + "' is not a comparison");
  std::string_view field = term.substr(0, at), value = term.substr(at + 1);
  const bool is_other = field.ends_with('!');
  if (is_other) field.remove_suffix(1);
  if (!is_other && value.starts_with('=')) value.remove_prefix(1);
  if (field != "metadata.name")
    return invalid("\"" + std::string(field) + "\" is not a known field selector: only \"metadata.name\"");
  if (is_other)
    other_names_.emplace_back(value);
  else if (name_ && *name_ != value)
    is_contradictory_ = true;
  else
    name_ = std::string(value);
  return {};
}

Result<Selector> Selector::parse(std::string_view labels, std::string_view fields) {
  Selector selector;
  selector.terms_ = TRY(parse_label_selector(labels));
  std::size_t count = 0;
  while (const auto term = next_field(fields, ',')) {
    if (++count > kMaxTerms) return invalid("more than " + std::to_string(kMaxTerms) + " field terms");
    if (!trim(*term).empty()) TRY(selector.take_field(trim(*term)));
  }
  return selector;
}

bool Selector::matches_name(std::string_view name) const {
  return !is_contradictory_ && (!name_ || *name_ == name) &&
         std::find(other_names_.begin(), other_names_.end(), name) == other_names_.end();
}

bool Selector::matches(const Labels& labels) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const LabelTerm& term) { return term.matches(labels); });
}

}  // namespace koord::aggregated
