// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/top_control.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace koord::ctl;

namespace {

constexpr std::size_t kWidth = 120, kLines = 24;

TopRow row(const std::string& kind, const std::string& name, double cores, double bytes) {
  TopRow made;
  made.kind = kind;
  made.name = name;
  made.usage.cpu_cores = cores;
  made.usage.memory_bytes = bytes;
  return made;
}

TopView node(double cores_of_etl = 2) {
  TopView view;
  view.node = "n1";
  TopRow cart = row("container", "shop/cart/app", 0.5, 4096);
  cart.interference = "cpu 4.2%";
  view.rows = {row("pod", "batch/etl", cores_of_etl, 1024), std::move(cart), row("service", "idle.service", 0, 8192)};
  return view;
}

TopControl control(TopView view = node()) {
  TopControl made(TopOrder::harm, false, 0);
  made.update(std::move(view));
  return made;
}

// Returns the names of the rows on the screen, from the top.
std::vector<std::string> shown(const TopControl& control, std::size_t lines = kLines) {
  std::vector<std::string> names;
  for (const std::string& line : control.draw(kWidth, lines).lines)
    for (const char* name : {"batch/etl", "shop/cart/app", "idle.service"})
      if (line.find(name) != std::string::npos) names.emplace_back(name);
  return names;
}

bool shows(const TopControl& control, std::string_view text) {
  for (const std::string& line : control.draw(kWidth, kLines).lines)
    if (line.find(text) != std::string::npos) return true;
  return false;
}

void type(TopControl& control, std::string_view keys) {
  for (const char key : keys) CHECK(control.press(key, kLines));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the screen begins with the most held up row, and idle ones are folded") {
  const TopControl top = control();
  CHECK(shown(top) == Names{"shop/cart/app", "batch/etl"});
  CHECK(shows(top, "by harm"));
  CHECK(shows(top, "1 idle ones folded"));
  CHECK(top.draw(kWidth, kLines).lines.size() == kLines);
}

TEST_CASE("a letter sorts, and by memory and name idle rows are shown, too") {
  TopControl top = control();
  type(top, "c");
  CHECK(shown(top) == Names{"batch/etl", "shop/cart/app"});
  type(top, "m");
  CHECK(shown(top) == Names{"idle.service", "shop/cart/app", "batch/etl"});
  type(top, "n");
  CHECK(shown(top) == Names{"batch/etl", "idle.service", "shop/cart/app"});
  type(top, "h");
  CHECK(shown(top) == Names{"shop/cart/app", "batch/etl"});
}

TEST_CASE("i unfolds idle rows and folds them again") {
  TopControl top = control();
  type(top, "i");
  CHECK(shown(top).size() == 3);
  type(top, "i");
  CHECK(shown(top).size() == 2);
}

TEST_CASE("a filter leaves rows with its text, in any case, until Esc") {
  TopControl top = control();
  type(top, "/ETLx");
  CHECK(shown(top).empty());
  CHECK(shows(top, "filter: ETLx_"));
  type(top, "\x7f\n");
  CHECK(shown(top) == Names{"batch/etl"});
  CHECK(shows(top, "filter: ETL (Esc clears)"));
  type(top, std::string(1, kKeyEscape));
  CHECK(shown(top).size() == 2);
}

TEST_CASE("letters of a filter are no commands") {
  TopControl top = control();
  type(top, "/qq hi");
  CHECK(shows(top, "filter: qq hi_"));
  type(top, std::string(1, kKeyEscape));
  CHECK(shown(top).size() == 2);
  CHECK(shows(top, "by harm"));
  type(top, "/" + std::string(1000, 'x'));
  CHECK(shows(top, "filter: " + std::string(64, 'x') + "_"));
}

TEST_CASE("space keeps the figures until space") {
  TopControl top = control();
  type(top, " ");
  top.update(node(7.25));
  CHECK(shows(top, "PAUSED"));
  CHECK_FALSE(shows(top, "7.250"));
  type(top, " ");
  top.update(node(7.25));
  CHECK(shows(top, "7.250"));
}

TEST_CASE("the selection stays with its row when the order changes") {
  TopControl top = control();
  CHECK(top.press(kKeyDown, kLines));
  type(top, "c");
  const ScreenText screen = top.draw(kWidth, kLines);
  REQUIRE(screen.selected);
  CHECK(screen.lines[*screen.selected].find("batch/etl") != std::string::npos);
}

TEST_CASE("the selected row is on every screen, however many rows and lines there are") {
  TopView view;
  for (int i = 0; i < 1000; ++i) view.rows.push_back(row("pod", "p" + std::to_string(i), 1, 1));
  TopControl top = control(view);
  type(top, "n");
  for (const std::size_t lines : {0u, 1u, 2u, 3u, 5u, 6u, 7u, 24u, 2000u})
    for (const int key : {kKeyEnd, kKeyUp, kKeyPageUp, kKeyHome, kKeyPageDown, kKeyDown, kKeyUp, kKeyUp}) {
      CAPTURE(lines);
      CAPTURE(key);
      CHECK(top.press(key, lines));
      for (const std::size_t width : {1u, 20u, 120u}) {
        const ScreenText screen = top.draw(width, lines);
        CHECK(screen.lines.size() == lines);
        CHECK((screen.selected ? *screen.selected < lines : lines <= 6));
      }
    }
}

TEST_CASE("Enter shows the detail of the selected row, Esc leads back") {
  TopControl top = control();
  CHECK(top.detail_of() == nullptr);
  type(top, "\n");
  REQUIRE(top.detail_of() != nullptr);
  CHECK(top.detail_of()->name == "shop/cart/app");
  CHECK(shows(top, "asking the agent"));
  top.update_detail("first\nsecond \x1b[31m\n");
  CHECK(shows(top, "second ?[31m"));
  CHECK(top.press(kKeyDown, kLines));
  CHECK_FALSE(shows(top, "first"));
  for (int i = 0; i < 5; ++i) CHECK(top.press(kKeyPageDown, kLines));
  CHECK(shows(top, "second"));
  type(top, std::string(1, kKeyEscape));
  CHECK(top.detail_of() == nullptr);
  CHECK(shown(top).size() == 2);
}

TEST_CASE("an agent that does not answer is a line, and the last figures stay") {
  TopControl top = control();
  top.fail("the agent does not answer");
  CHECK(shows(top, "the agent does not answer"));
  CHECK(shown(top).size() == 2);
  top.update(node());
  CHECK_FALSE(shows(top, "the agent does not answer"));
}

TEST_CASE("q and a terminal that is gone end the screen, also in a detail") {
  TopControl top = control();
  CHECK_FALSE(top.press('q', kLines));
  CHECK_FALSE(top.press(kKeyClosed, kLines));
  type(top, "\n");
  CHECK_FALSE(top.press('q', kLines));
  CHECK(top.press(kKeyResize, kLines));
}

TEST_CASE("keys before the first figures and without rows change nothing") {
  TopControl empty(TopOrder::cpu, false, 0);
  for (const int key : {int(kKeyEnter), int(kKeyDown), int(kKeyEnd), int('i'), int(kKeyEscape)})
    CHECK(empty.press(key, kLines));
  CHECK(shows(empty, "asking the agent"));
  empty.update({});
  for (const int key : {int(kKeyEnter), int(kKeyDown), int(kKeyEnd)}) CHECK(empty.press(key, kLines));
  CHECK(empty.detail_of() == nullptr);
  CHECK(shows(empty, "0 rows"));
}
