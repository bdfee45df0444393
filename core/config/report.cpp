// SPDX-License-Identifier: Apache-2.0
#include "core/config/report.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace koord::config {
namespace {

constexpr std::size_t kMaxProblems = 50;

}  // namespace

void Report::add(const Place& place, std::string text) { add(place, std::move(text), {}); }

void Report::add(const Place& place, std::string text, std::string_view hint) {
  add_line(place, std::move(text) + " at " + place.text() + std::string(hint));
}

void Report::add(const Error& error) { add_line({}, error.text); }

bool Report::full() const { return problems_.size() == kMaxProblems; }

void Report::add_line(const Place& place, std::string line) {
  if (full()) {
    ++left_out_;
    return;
  }
  problems_.push_back({place, std::move(line)});
}

Error Report::to_error() const {
  std::vector<Problem> sorted = problems_;
  const auto position = [](const Problem& p) { return std::tuple(p.place.line == 0, p.place.line, p.place.column); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return position(a) < position(b); });
  std::string text;
  for (const Problem& problem : sorted) text += (text.empty() ? "" : "\n") + problem.line;
  if (left_out_ > 0) text += "\nand " + std::to_string(left_out_) + " more";
  return invalid(std::move(text));
}

}  // namespace koord::config
