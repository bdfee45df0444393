// SPDX-License-Identifier: Apache-2.0
#include "core/decision/modes.hpp"

#include <doctest/doctest.h>

#include "core/decision/outcome.hpp"

using namespace koord;
using namespace koord::decision;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{};
Modes::Override until(Mode mode, Duration when) { return {mode, kStart + when}; }

}  // namespace

TEST_CASE("a strategy has the mode that is configured for it, else the node's, else shadow") {
  Modes modes;
  CHECK(modes.of("burst") == Mode::shadow);
  modes.configure_node(Mode::enforce);
  CHECK(modes.of("burst") == Mode::enforce);
  modes.configure("burst", Mode::off);
  CHECK(modes.of("burst") == Mode::off);
  modes.configure("burst", std::nullopt);
  CHECK(modes.of("burst") == Mode::enforce);
}

TEST_CASE("an operator's override comes before the configuration, until it ends") {
  Modes modes;
  modes.configure("burst", Mode::off);
  REQUIRE(modes.override_mode("burst", until(Mode::enforce, 10s)));
  CHECK(modes.of("burst") == Mode::enforce);
  CHECK(modes.of("other") == Mode::shadow);
  CHECK(modes.expire(kStart + 9s).empty());
  CHECK(modes.expire(kStart + 10s) == std::vector<std::string>{"burst"});
  CHECK(modes.of("burst") == Mode::off);
}

TEST_CASE("the node's override is a ceiling: it never lets a strategy do more") {
  Modes modes;
  modes.configure("burst", Mode::enforce);
  modes.configure("quiet", Mode::off);
  REQUIRE(modes.override_mode("node", until(Mode::shadow, 1h)));
  CHECK(modes.of("burst") == Mode::shadow);
  CHECK(modes.of("quiet") == Mode::off);
  CHECK_FALSE(modes.is_hands_off());
  REQUIRE(modes.override_mode("burst", until(Mode::enforce, 1h)));
  CHECK(modes.of("burst") == Mode::shadow);
  REQUIRE(modes.override_mode("node", until(Mode::off, 1h)));
  CHECK(modes.is_hands_off());
  REQUIRE(modes.override_mode("node", std::nullopt));
  CHECK(modes.of("burst") == Mode::enforce);
}

TEST_CASE("enforce is no ceiling, and is refused as one") {
  Modes modes;
  const Result<void> refused = modes.override_mode("node", until(Mode::enforce, 1h));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("expected off or shadow") != std::string::npos);
}

TEST_CASE("a view has the configured mode, the override with its end, and the effective mode") {
  Modes modes;
  modes.configure_node(Mode::enforce);
  REQUIRE(modes.override_mode("burst", until(Mode::off, 1h)));
  const Modes::View view = modes.view("burst");
  CHECK_FALSE(view.configured);
  CHECK(view.override_mode->until == kStart + 1h);
  CHECK(view.mode == Mode::off);
  CHECK(modes.view("node").configured == Mode::enforce);
}

TEST_CASE("modes and results have names that are read back, and an error lists them") {
  for (Mode mode : {Mode::off, Mode::shadow, Mode::enforce}) CHECK(*parse_mode(to_string(mode)) == mode);
  CHECK(parse_mode("on").error().message() == "'on' is not a mode, expected off, shadow or enforce");
  for (Outcome outcome : {Outcome::applied, Outcome::hands_off, Outcome::left, Outcome::switched, Outcome::evicted,
                          Outcome::opted_out, Outcome::unknown})
    CHECK(*parse_outcome(name_of(outcome)) == outcome);
  CHECK(parse_outcome("fine").error().message().find("applied, shadow, off, hands_off") != std::string::npos);
}
