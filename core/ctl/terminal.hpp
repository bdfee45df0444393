// SPDX-License-Identifier: Apache-2.0
// Terminal: the full screen of a terminal, with ncurses. Only one may exist at a time. [one thread]
#pragma once

#include <memory>

#include "core/base/result.hpp"
#include "core/ctl/top_control.hpp"

namespace koord::ctl {

class Terminal {
 public:
  // Opens the terminal of the standard input and output. Fails if its type (TERM) is unknown, or in a build without
  // ncurses.
  static Result<std::unique_ptr<Terminal>> open();
  virtual ~Terminal() = default;  // restores the terminal

  virtual std::size_t width() const = 0;
  virtual std::size_t lines() const = 0;
  virtual void show(const ScreenText& text) = 0;

  // Waits for a key until the timeout or a signal. Returns 0 if no key came.
  virtual int read_key(int timeout_ms) = 0;
};

}  // namespace koord::ctl
