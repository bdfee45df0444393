// SPDX-License-Identifier: Apache-2.0
#include "core/knob/process_texts.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>

#include "core/base/parse.hpp"
#include "core/knob/fields.hpp"

namespace koord::knob {
namespace {

constexpr std::size_t kMostSpelled = 3;

Error no_scores(std::string_view text) {
  return invalid("'" + std::string(text.substr(0, 100)) + "' are no scores of processes");
}

std::string hexadecimal_of(std::uint64_t number) {
  char digits[16];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number, 16);
  return {digits, end};
}

std::optional<std::uint64_t> cookie_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> add_other(std::string_view word, Scores& scores) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return no_scores(word);
  const ProcessId process = TRY(parse_process(word.substr(0, equals)));
  scores.others[process] = TRY(parse_int(word.substr(equals + 1)));
  return {};
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool are_scores_of(const Texts& now, const std::vector<const Texts*>& ours) {
  const Result<Scores> found = now.empty() ? Result<Scores>(Scores()) : parse_scores(now[0]);
  if (!found) return false;
  std::vector<Scores> known;
  for (const Texts* one : ours)
    if (Result<Scores> scores = one->empty() ? Result<Scores>(no_scores("")) : parse_scores((*one)[0]))
      known.push_back(*std::move(scores));
  std::uint64_t newest = 0;
  for (const Scores& scores : known) newest = std::max(newest, scores.newest);
  const auto is_ours = [&](const ProcessId& process, std::int64_t score) {
    if (process.start > newest) return true;
    return std::any_of(known.begin(), known.end(), [&](const Scores& one) { return one.of(process) == score; });
  };
  return is_ours({0, found->oldest}, found->main) &&
         std::all_of(found->others.begin(), found->others.end(),
                     [&](const auto& other) { return is_ours(other.first, other.second); });
}

// Returns whether all groups are known. Threads without a group are accepted beside a known group, because a runtime
// adds processes without a group to a container. If no known group is left, a different program removed it.
bool are_groups_of(const Texts& now, const std::vector<const Texts*>& ours) {
  std::set<std::string> known;
  for (const Texts* one : ours)
    for (const CoreGroupLine& group :
         one->empty() ? std::vector<CoreGroupLine>() : parse_core_groups((*one)[0]).value_or({}))
      known.insert(group.first);
  const std::vector<CoreGroupLine> found =
      now.empty() ? std::vector<CoreGroupLine>() : parse_core_groups(now[0]).value_or({});
  const auto is_known = [&](const CoreGroupLine& group) { return known.contains(group.first); };
  return std::any_of(found.begin(), found.end(), is_known) &&
         std::all_of(found.begin(), found.end(),
                     [&](const CoreGroupLine& group) { return group.first.empty() || is_known(group); });
}

}  // namespace

std::string name_of(const ProcessId& process) {
  return std::to_string(process.pid) + "@" + std::to_string(process.start);
}

Result<ProcessId> parse_process(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return no_scores(name);
  const std::uint64_t pid = TRY(parse_uint(name.substr(0, at)));
  if (pid > INT32_MAX) return no_scores(name);
  const std::uint64_t start = TRY(parse_uint(name.substr(at + 1)));
  return ProcessId{static_cast<std::int32_t>(pid), start};
}

Result<Scores> parse_scores(std::string_view text) {
  std::string_view rest = text;
  Scores scores;
  scores.main = TRY(parse_int(next_word(rest).value_or("")));
  while (const auto word = next_word(rest)) {
    const std::size_t dots = word->find("..");
    if (dots == std::string_view::npos) {
      TRY(add_other(*word, scores));
      continue;
    }
    scores.oldest = TRY(parse_uint(word->substr(0, dots)));
    scores.newest = TRY(parse_uint(word->substr(dots + 2)));
  }
  return scores;
}

std::string text_of(const Scores& scores) {
  std::string text = std::to_string(scores.main);
  if (scores.newest != 0) text += " " + std::to_string(scores.oldest) + ".." + std::to_string(scores.newest);
  for (const auto& [process, score] : scores.others) text += " " + name_of(process) + "=" + std::to_string(score);
  return text;
}

std::string encode_scores(const Value& value) {
  std::string text = std::to_string(value.amount);
  for (const auto& [process, score] : value.fields) text += " " + process + "=" + score;
  return text;
}

Result<Value> decode_scores(std::string_view text) {
  const Scores scores = TRY(parse_scores(text));
  Value value{scores.main};
  for (const auto& [process, score] : scores.others) value.fields.emplace(name_of(process), std::to_string(score));
  return value;
}

// Returns a text such as "-998" or "-998, process 77: 0".
std::string spell_scores(const Value& value) {
  std::string text = std::to_string(value.amount);
  std::size_t spelled = 0;
  for (const auto& [process, score] : value.fields) {
    if (spelled++ == kMostSpelled)
      return text + ", " + std::to_string(value.fields.size() - kMostSpelled) + " more differ";
    text += ", process " + process.substr(0, process.find('@')) + ": " + score;
  }
  return text;
}

Result<std::vector<CoreGroupLine>> parse_core_groups(std::string_view text) {
  std::vector<CoreGroupLine> groups;
  while (const auto line = next_field(text, '\n')) {
    const std::size_t hash = line->rfind('#');
    if (hash == std::string_view::npos)
      return invalid("'" + std::string(line->substr(0, 100)) + "' is not a core group");
    std::string name(line->substr(0, hash));
    const std::string_view cookie = line->substr(hash + 1);
    const std::optional<std::uint64_t> number = cookie.empty() ? 0 : cookie_in(cookie);
    if (!number) return invalid("'" + std::string(cookie.substr(0, 100)) + "' is not a cookie of a core group");
    if (name.empty() && *number != 0) name = kForeignGroup + std::string(cookie);
    groups.emplace_back(std::move(name), *number);
  }
  return groups;
}

std::string text_of(const std::vector<CoreGroupLine>& groups) {
  std::vector<std::string> lines;
  for (const auto& [name, cookie] : groups) {
    const bool is_foreign = name.starts_with(kForeignGroup);
    lines.push_back(name.empty() ? "#0" : (is_foreign ? "" : name) + "#" + hexadecimal_of(cookie));
  }
  return join(lines, "\n");
}

Result<Value> parse_core_group(const Knob& knob, std::string_view text) {
  if (text.size() > kMostGroupName || !is_printable(text))
    return unexpected(knob, text, "the name of a group, of at most 253 bytes without control characters");
  return Value{.fields = {{std::string(text), ""}}};
}

std::string encode_core_groups(const Fields& groups) {
  std::vector<std::string> lines;
  for (const auto& [name, nothing] : groups)
    lines.push_back(name.empty() ? "#0" : name.starts_with(kForeignGroup) ? "#" + name.substr(1) : name + "#");
  return join(lines, "\n");
}

Result<Value> decode_core_groups(std::string_view text) {
  Value value;
  for (CoreGroupLine& group : TRY(parse_core_groups(text))) value.fields.emplace(std::move(group.first), "");
  return value;
}

std::string spell_core_groups(const Fields& groups) {
  std::vector<std::string> names;
  for (const auto& [name, nothing] : groups)
    names.push_back(name.empty()                      ? "no group"
                    : name.starts_with(kForeignGroup) ? "cookie " + name.substr(1) + " of another program"
                                                      : name);
  return join(names, ", ");
}

bool is_any_of(const Knob& knob, const Texts& now, const std::vector<const Texts*>& ours) {
  return knob.form == Form::score ? are_scores_of(now, ours) : are_groups_of(now, ours);
}

}  // namespace koord::knob
