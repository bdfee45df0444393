// SPDX-License-Identifier: Apache-2.0
// Terminal::open() for a build without ncurses.
#include "core/ctl/terminal.hpp"

namespace koord::ctl {

Result<std::unique_ptr<Terminal>> Terminal::open() { return invalid("this build has no ncurses"); }

}  // namespace koord::ctl
