// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/top_control.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"

namespace koord::ctl {
namespace {

constexpr std::string_view kTopKeys = "sort: h c m l t s n   / filter   i idle   space pause   Enter detail   q quit";
constexpr std::string_view kDetailKeys = "arrows scroll   Esc back   q quit";
constexpr std::size_t kMostFilterCharacters = 64;

struct SortKey {
  char key;
  TopOrder order;
};
constexpr std::array<SortKey, 7> kSortKeys{{{'h', TopOrder::harm},
                                            {'c', TopOrder::cpu},
                                            {'m', TopOrder::memory},
                                            {'l', TopOrder::latency},
                                            {'t', TopOrder::throttled},
                                            {'s', TopOrder::stalled},
                                            {'n', TopOrder::name}}};

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) {
    replace_control_characters(line);
    cut_utf8_characters(line, width);
  }
  return lines;
}

// Returns how many rows a key moves on a page of this many lines; nullopt if it does not move.
std::optional<std::ptrdiff_t> step_of(int key, std::size_t page) {
  constexpr std::ptrdiff_t kFar = 1 << 30;
  switch (key) {
    case kKeyUp:
      return -1;
    case kKeyDown:
      return 1;
    case kKeyPageUp:
      return -static_cast<std::ptrdiff_t>(page);
    case kKeyPageDown:
      return static_cast<std::ptrdiff_t>(page);
    case kKeyHome:
      return -kFar;
    case kKeyEnd:
      return kFar;
    default:
      return std::nullopt;
  }
}

std::size_t moved(std::size_t from, std::ptrdiff_t step, std::size_t last) {
  return static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(from) + step, 0, static_cast<std::ptrdiff_t>(last)));
}

// Adds empty lines, so that the status is the last line of the screen.
void finish(ScreenText& screen, std::size_t lines, std::size_t width, std::string status, std::string_view keys) {
  screen.lines.resize(lines >= 2 ? lines - 2 : 0);
  if (lines >= 2) screen.lines.push_back(std::move(status));
  if (lines >= 1) screen.lines.emplace_back(keys);
  for (std::string& line : screen.lines) cut_utf8_characters(line, width);
}

}  // namespace

void TopControl::update(TopView view) {
  problem_.clear();
  if (!is_paused_ || !view_) view_ = std::move(view);
}

TopView TopControl::selection() const {
  TopView view = *view_;
  if (const std::string wanted = lower_case(filter_); !wanted.empty())
    std::erase_if(view.rows, [&](const TopRow& row) {
      return lower_case(row.kind + " " + row.name + " " + row.qos + " " + row.interference).find(wanted) ==
             std::string::npos;
    });
  sort_rows(view.rows, order_);
  shorten(view, !shows_idle_ && folds_idle_rows(order_), limit_);
  return view;
}

std::size_t TopControl::selected_among(const std::vector<TopRow>& rows) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const TopRow& row) { return row.name == selected_; });
  if (found != rows.end()) return static_cast<std::size_t>(found - rows.begin());
  return std::min(selected_index_, rows.empty() ? 0 : rows.size() - 1);
}

bool TopControl::press(int key, std::size_t lines) {
  if (key == kKeyClosed) return false;
  if (edits_filter_) return press_in_filter(key);
  if (key == 'q') return false;
  if (detail_) return press_in_detail(key, lines);
  if (sorts(key)) return true;
  if (key == '/') edits_filter_ = true;
  if (key == 'i') shows_idle_ = !shows_idle_;
  if (key == ' ') is_paused_ = !is_paused_;
  if (key == kKeyEscape) filter_.clear();
  if (!view_) return true;
  const std::vector<TopRow> rows = selection().rows;
  if (rows.empty()) return true;
  const std::size_t at = selected_among(rows);
  if (key == kKeyEnter) {
    detail_ = rows[at];
    detail_text_.clear();
    detail_line_ = 0;
  }
  if (const auto step = step_of(key, lines > 7 ? lines - 7 : 1)) {
    selected_index_ = moved(at, *step, rows.size() - 1);
    selected_ = rows[selected_index_].name;
  }
  return true;
}

bool TopControl::sorts(int key) {
  for (const SortKey& sort : kSortKeys) {
    if (key != sort.key) continue;
    order_ = sort.order;
    return true;
  }
  return false;
}

bool TopControl::press_in_filter(int key) {
  if (key == kKeyEnter || key == kKeyEscape) edits_filter_ = false;
  if (key == kKeyEscape) filter_.clear();
  if (key == kKeyBackspace && !filter_.empty()) filter_.pop_back();
  if (key >= ' ' && key < kKeyBackspace && filter_.size() < kMostFilterCharacters) filter_ += static_cast<char>(key);
  return true;
}

bool TopControl::press_in_detail(int key, std::size_t lines) {
  if (key == kKeyEscape || key == kKeyBackspace || key == kKeyEnter) detail_.reset();
  const auto count = static_cast<std::size_t>(std::count(detail_text_.begin(), detail_text_.end(), '\n'));
  if (const auto step = step_of(key, lines > 3 ? lines - 3 : 1))
    detail_line_ = moved(detail_line_, *step, count == 0 ? 0 : count - 1);
  return true;
}

std::string TopControl::status() const {
  std::string text = is_paused_ ? "PAUSED   " : "";
  if (!problem_.empty()) text += problem_ + "   ";
  text += "by " + std::string(name_of(order_));
  if (edits_filter_)
    text += "   filter: " + filter_ + "_";
  else if (!filter_.empty())
    text += "   filter: " + filter_ + " (Esc clears)";
  return text;
}

ScreenText TopControl::draw(std::size_t width, std::size_t lines) const {
  if (detail_) return draw_detail(width, lines);
  ScreenText screen;
  if (!view_) {
    finish(screen, lines, width, problem_.empty() ? "asking the agent" : problem_, kTopKeys);
    return screen;
  }
  const TopView view = selection();
  screen.lines = lines_of(top_header(view), width);
  const std::vector<std::string> table = lines_of(top_table(view, width), width);
  screen.lines.push_back(table.front());
  const std::size_t above = screen.lines.size(), room = lines > above + 2 ? lines - above - 2 : 0;
  const std::size_t selected = selected_among(view.rows), rows = view.rows.size();
  const std::size_t first = selected < room ? 0 : std::min(selected - room / 2, rows - std::min(room, rows));
  for (std::size_t i = first; i < std::min(first + room, rows); ++i) screen.lines.push_back(table[i + 1]);
  if (rows > 0 && room > 0) screen.selected = above + selected - first;
  std::string text = status() + "   " + std::to_string(rows) + " rows";
  if (view.idle_rows > 0) text += ", " + std::to_string(view.idle_rows) + " idle ones folded";
  if (view.further_rows > 0) text += ", " + std::to_string(view.further_rows) + " beyond --limit";
  finish(screen, lines, width, std::move(text), kTopKeys);
  return screen;
}

ScreenText TopControl::draw_detail(std::size_t width, std::size_t lines) const {
  ScreenText screen;
  screen.lines.push_back(detail_->kind + " " + detail_->name);
  const std::vector<std::string> text = lines_of(detail_text_.empty() ? "asking the agent" : detail_text_, width);
  for (std::size_t i = detail_line_; i < text.size() && screen.lines.size() + 2 < lines; ++i)
    screen.lines.push_back(text[i]);
  finish(screen, lines, width, problem_, kDetailKeys);
  return screen;
}

}  // namespace koord::ctl
