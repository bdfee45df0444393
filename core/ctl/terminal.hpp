// SPDX-License-Identifier: Apache-2.0
// Terminal: the whole screen of a terminal, by ncurses. One at a time. [one thread]
#pragma once

#include <memory>

#include "core/base/result.hpp"
#include "core/ctl/top_control.hpp"

namespace koord::ctl {

class Terminal {
 public:
  // Takes over the terminal of the standard input and output. Fails if its type is unknown (TERM), or in a build
  // without ncurses.
  static Result<std::unique_ptr<Terminal>> open();
  virtual ~Terminal() = default;  // leaves it as it was

  virtual std::size_t width() const = 0;
  virtual std::size_t lines() const = 0;
  virtual void show(const ScreenText& text) = 0;

  // Waits for a key for at most this time, or until a signal. 0: none came.
  virtual int read_key(int timeout_ms) = 0;
};

}  // namespace koord::ctl
