// SPDX-License-Identifier: Apache-2.0
// All ways to interrupt an agent in its work. Header-only.
#pragma once

#include <array>
#include <string_view>

namespace koord::test {

enum class Interruption {
  sigkill,  // followed by a start
  sigterm,  // followed by a start; in between all files have their original values
  sighup,   // with a different log configuration and an equivalent configuration of the strategy
  reload,   // koordctl plugin reload of the strategy
  keep,     // a session with onExit: keep, its end, and a start
};
inline constexpr std::array kInterruptions = {Interruption::sigkill, Interruption::sighup, Interruption::reload,
                                              Interruption::sigterm, Interruption::keep};

constexpr std::string_view name_of(Interruption interruption) {
  switch (interruption) {
    case Interruption::sigkill:
      return "SIGKILL and the next start";
    case Interruption::sigterm:
      return "SIGTERM and the next start";
    case Interruption::sighup:
      return "SIGHUP with an unrelated change";
    case Interruption::reload:
      return "a reload of the plugin";
    case Interruption::keep:
      return "onExit: keep and the next start";
  }
  return "";
}

}  // namespace koord::test
