// SPDX-License-Identifier: Apache-2.0
#include "core/metric/labels.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/utf8.hpp"

namespace koord::metric {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t subject_rank(std::string_view name) {
  return static_cast<std::size_t>(std::find(std::begin(kSubjectLabels), std::end(kSubjectLabels), name) -
                                  std::begin(kSubjectLabels));
}

bool is_subject_label(std::string_view name) { return subject_rank(name) < std::size(kSubjectLabels); }

Result<void> check_value(const Labels::value_type& label) {
  if (label.second.size() > kMaxLabelValueBytes)
    return invalid("label '" + label.first + "' has a value of " + std::to_string(label.second.size()) +
                   " bytes, expected at most " + std::to_string(kMaxLabelValueBytes));
  if (!is_valid_utf8(label.second)) return invalid("label '" + label.first + "' has a value that is not UTF-8");
  return {};
}

Result<void> check_own_name(std::string_view name) {
  if (!is_valid_name(name) || name.starts_with("__"))
    return invalid("label '" + std::string(name) + "' is not a name as [a-zA-Z_][a-zA-Z0-9_]* without leading '__'");
  if (name == kNodeLabel || is_subject_label(name))
    return invalid("label '" + std::string(name) + "' is set by the host from the subject of the series");
  if (name == "le") return invalid("label 'le' is kept for the buckets of histograms");
  return {};
}

Result<void> check_subject_name(std::string_view name) {
  if (is_subject_label(name)) return {};
  return invalid("label '" + std::string(name) + "' is none of a subject's labels");
}

void drop_empty(Labels& labels) {
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
}

Result<void> check_unique(const Labels& sorted) {
  auto same =
      std::adjacent_find(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same != sorted.end()) return invalid("label '" + same->first + "' is given twice");
  return {};
}

}  // namespace

bool is_valid_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

Result<Labels> checked_own_labels(Labels labels) {
  if (labels.size() > kMaxOwnLabels)
    return invalid("a series has " + std::to_string(labels.size()) + " labels, expected at most " +
                   std::to_string(kMaxOwnLabels));
  for (const auto& label : labels) {
    TRY(check_own_name(label.first));
    TRY(check_value(label));
  }
  std::sort(labels.begin(), labels.end());
  TRY(check_unique(labels));
  drop_empty(labels);
  return labels;
}

Result<Labels> checked_subject_labels(Labels labels) {
  for (const auto& label : labels) {
    TRY(check_subject_name(label.first));
    TRY(check_value(label));
  }
  std::sort(labels.begin(), labels.end(),
            [](const auto& a, const auto& b) { return subject_rank(a.first) < subject_rank(b.first); });
  TRY(check_unique(labels));
  drop_empty(labels);
  return labels;
}

SubjectKind kind_of(const Subject& subject) {
  if (subject.handle == 0) return SubjectKind::node;
  const bool is_container = std::any_of(subject.labels.begin(), subject.labels.end(),
                                        [](const auto& label) { return label.first.starts_with("container_"); });
  return is_container ? SubjectKind::container : SubjectKind::pod;
}

std::size_t bytes_of(const Labels& labels) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : labels) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace koord::metric
