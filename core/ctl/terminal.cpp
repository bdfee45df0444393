// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/terminal.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>

#define NCURSES_NOMACROS  // otherwise ncurses defines macros with common names
#include <ncurses.h>

namespace koord::ctl {
namespace {

constexpr int kEscapeDelayMs = 25;  // delay that separates Esc from the first byte of an arrow key

int key_of(wint_t code, bool is_special) {
  if (!is_special) return code == '\r' ? kKeyEnter : code == '\b' ? kKeyBackspace : static_cast<int>(code);
  switch (code) {
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_PPAGE:
      return kKeyPageUp;
    case KEY_NPAGE:
      return kKeyPageDown;
    case KEY_HOME:
      return kKeyHome;
    case KEY_END:
      return kKeyEnd;
    case KEY_ENTER:
      return kKeyEnter;
    case KEY_BACKSPACE:
      return kKeyBackspace;
    case KEY_RESIZE:
      return kKeyResize;
    default:
      return 0;
  }
}

class CursesTerminal : public Terminal {
 public:
  explicit CursesTerminal(SCREEN* screen) : screen_(screen) {
    ::cbreak();
    ::noecho();
    ::nonl();
    ::curs_set(0);
    ::keypad(stdscr, true);
    ::nodelay(stdscr, true);
    ::set_escdelay(kEscapeDelayMs);
  }
  ~CursesTerminal() override {
    ::endwin();
    ::delscreen(screen_);
  }
  CursesTerminal(const CursesTerminal&) = delete;
  CursesTerminal& operator=(const CursesTerminal&) = delete;

  std::size_t width() const override { return static_cast<std::size_t>(std::max(::getmaxx(stdscr), 1)); }
  std::size_t lines() const override { return static_cast<std::size_t>(std::max(::getmaxy(stdscr), 1)); }

  void show(const ScreenText& text) override {
    ::werase(stdscr);
    for (std::size_t i = 0; i < text.lines.size() && i < lines(); ++i) {
      const bool is_selected = text.selected == i;
      if (is_selected) ::wattr_on(stdscr, A_REVERSE, nullptr);
      std::string line = text.lines[i];
      if (is_selected && line.size() < width()) line.append(width() - line.size(), ' ');
      ::mvwaddnstr(stdscr, static_cast<int>(i), 0, line.c_str(), -1);
      if (is_selected) ::wattr_off(stdscr, A_REVERSE, nullptr);
    }
    ::wrefresh(stdscr);
  }

  // Polls the input itself, because wget_wch() returns immediately, again and again, if the terminal is gone.
  int read_key(int timeout_ms) override {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, timeout_ms);
    if (ready > 0 && (input.revents & POLLIN) == 0) return kKeyClosed;
    // Called after a timeout, too, because ncurses may have buffered keys or the new screen size.
    wint_t code = 0;
    const int kind = ::wget_wch(stdscr, &code);
    if (kind != ERR) empty_reads_ = 0;
    if (kind != ERR) return key_of(code, kind == KEY_CODE_YES);
    // There is no key, because a signal or only a part of a key came. If the input is always readable but empty, the
    // terminal is closed.
    if (ready > 0 && ++empty_reads_ > kMostEmptyReads) return kKeyClosed;
    return 0;
  }

 private:
  static constexpr unsigned kMostEmptyReads = 100;

  SCREEN* screen_;
  unsigned empty_reads_ = 0;
};

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open() {
  std::setlocale(LC_CTYPE, "");
  SCREEN* screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* type = std::getenv("TERM");
    return invalid("the type of the terminal, '" + std::string(type == nullptr ? "" : type) + "', is unknown");
  }
  return std::unique_ptr<Terminal>(std::make_unique<CursesTerminal>(screen));
}

}  // namespace koord::ctl
