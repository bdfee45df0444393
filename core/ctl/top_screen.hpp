// SPDX-License-Identifier: Apache-2.0
// The loop of the interactive `koordctl top`: reads keys, requests values and draws the screen.
#pragma once

#include <csignal>

#include "core/ctl/command.hpp"
#include "core/ctl/terminal.hpp"
#include "core/ctl/top_control.hpp"

namespace koord::ctl {

struct TopLoop {
  Result<TopView> (*fetch)(const Invocation&);
  int interval_ms;
  const volatile std::sig_atomic_t& interrupted;  // a signal: ends the loop
};

void run_top_screen(const Invocation& invocation, Terminal& terminal, TopControl& control, const TopLoop& loop);

}  // namespace koord::ctl
