// SPDX-License-Identifier: Apache-2.0
// TopControl: the interactive screen of `koordctl top`: its content, and how keys change it. No terminal, no network.
// [one thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/ctl/top_model.hpp"

namespace koord::ctl {

// The code of a character is the character itself; special keys have codes above Unicode.
enum Key : int {
  kKeyEnter = '\n',
  kKeyEscape = 27,
  kKeyBackspace = 127,
  kKeyUp = 0x110000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyResize,
  kKeyClosed,  // the terminal is closed
};

struct ScreenText {
  std::vector<std::string> lines;  // at most the number of lines on the screen
  std::optional<std::size_t> selected;
};

class TopControl {
 public:
  // Shows rows in this order. `shows_idle`: idle rows are shown, too.
  TopControl(TopOrder order, bool shows_idle, std::size_t limit)
      : order_(order), shows_idle_(shows_idle), limit_(limit) {}

  // Sets new values. While the screen is paused, new values are ignored, except for the first values.
  void update(TopView view);
  // Called when the agent did not answer. The screen shows the last values and the reason.
  void fail(std::string reason) { problem_ = std::move(reason); }
  // Sets the text about detail_of().
  void update_detail(std::string text) { detail_text_ = std::move(text); }

  // Handles a key. Returns false if it ends the program. `lines`: the number of lines on the screen.
  bool press(int key, std::size_t lines);

  // Returns the row of the detail on the screen; nullptr if the table is shown.
  const TopRow* detail_of() const { return detail_ ? &*detail_ : nullptr; }

  ScreenText draw(std::size_t width, std::size_t lines) const;

 private:
  TopView selection() const;
  std::size_t selected_among(const std::vector<TopRow>& rows) const;
  bool press_in_filter(int key);
  bool press_in_detail(int key, std::size_t lines);
  void move_to(std::size_t index);
  bool sorts(int key);
  ScreenText draw_detail(std::size_t width, std::size_t lines) const;
  std::string status() const;

  TopOrder order_;
  bool shows_idle_;
  const std::size_t limit_;
  std::optional<TopView> view_;
  std::string problem_;
  std::string filter_;
  bool edits_filter_ = false, is_paused_ = false;
  std::string selected_;  // name of the selected row; if there is no such row: the row at selected_index_
  std::size_t selected_index_ = 0;
  std::optional<TopRow> detail_;
  std::string detail_text_;
  std::size_t detail_line_ = 0;
};

}  // namespace koord::ctl
