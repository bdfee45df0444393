// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/interference_view.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/ctl/top_model.hpp"

using namespace koord::ctl;

namespace {

std::string verdict(const std::string& members) {
  return R"({"id": 7, "state": "standing", "plugin": "advisor-interference", "origin": "own", "kind": "interfered",
    "resource": "cpu", "victim": {"name": "shop/cart/app"}, "from": 1767322800, "to": 1767322830, "unit": "seconds/second",
    "statistic": {"name": "held_up_by_others", "unit": "ratio", "value": 0.042}, "method": "exact")" +
         members + "}";
}
std::string answer(const std::string& members) { return R"({"verdicts": [)" + verdict(members) + "]}"; }
std::string render(const std::string& text, bool is_wide = false) { return *render_interference(text, is_wide); }
std::string brief(const std::string& text) { return brief_verdict(boost::json::parse(text)); }

const char* const kFour = R"(, "suspects": [{"name": "a", "kind": "subject", "value": 0.04, "share": 0.4},
  {"kind": "outside", "value": 0.03}, {"kind": "kernel", "value": 0.02}, {"kind": "subject", "name": "", "value": 0.01}])";

}  // namespace

TEST_CASE("three suspects are shown, all of them wide, with the source of the verdict") {
  const std::string text = render(answer(kFour));
  CHECK_MESSAGE(text.find("  caused   1. a                   40 ms/s  40 %\n"
                          "           2. node, outside pods  30 ms/s\n"
                          "           3. kernel threads      20 ms/s\n"
                          "           and 1 more, shown by -o wide\n") != std::string::npos,
                text);
  const std::string wide = render(answer(kFour), true);
  CHECK_MESSAGE(wide.find("4. a container that has ended  10 ms/s\n") != std::string::npos, wide);
  CHECK_MESSAGE(wide.ends_with("  source   plugin advisor-interference, verdict 7\n"), wide);
}

TEST_CASE("an ended verdict has its end, with the day only if it is another") {
  CHECK(
      render(answer(R"(, "state": "ended")")).starts_with("2026-01-02 03:00:00 - 03:00:30  shop/cart/app  INTERFERED"));
  CHECK(render(answer(R"(, "state": "ended", "to": 1767409230)"))
            .starts_with("2026-01-02 03:00:00 - 2026-01-03 03:00:30  shop/cart/app"));
}

TEST_CASE("use and request are in the unit of the resource") {
  CHECK(render(answer(R"(, "resource": "blkio", "suspects": [{"name": "a", "value": 0.1, "usage": 1048576}])"))
            .find("used 1.00Mi/s\n") != std::string::npos);
  CHECK(render(answer(R"(, "suspects": [{"kind": "outside", "value": 0.1, "usage": 0}])")).find("ran") ==
        std::string::npos);
  CHECK(render(answer(R"(, "resource": "memory", "suspects": [{"name": "a", "value": 0.1, "request": 1048576}])"))
            .find("requests 1.00Mi\n") != std::string::npos);
  CHECK(render(answer(R"(, "resource": "cache", "suspects": [{"name": "a", "value": 0.1, "usage": 1.5}])"))
            .find("ran 1.50 CPU\n") != std::string::npos);
}

TEST_CASE("a history without a match says so, and nothing about now") {
  CHECK(render(R"({"verdicts": [], "history": true, "judge": {"state": "running"}, "ended": 3})") ==
        "No verdict matches.\n");
}

TEST_CASE("the rule in force and its origin are shown where no verdict stands, and in wide output") {
  constexpr const char* kRule = R"("rule": "overQuiet 3 (configuration), all others built in")";
  CHECK(render(R"({"verdicts": [], "judge": {"state": "running"}, )" + std::string(kRule) + "}") ==
        "Nothing holds a container up now.\nRule: overQuiet 3 (configuration), all others built in.\n");
  const std::string standing = answer("");
  const std::string with_rule = "{" + std::string(kRule) + ", " + standing.substr(1);
  CHECK(render(with_rule) == render(standing));
  CHECK(*render_interference(with_rule, true) ==
        *render_interference(standing, true) + "\nRule: overQuiet 3 (configuration), all others built in.\n");
}

TEST_CASE("the cell of a table has resource and figure, own faults are marked, ended ones are empty") {
  CHECK(brief(verdict("")) == "cpu 4.2%");
  CHECK(brief(verdict(R"(, "kind": "self-quota")")) == "own cpu 4.2%");
  CHECK(brief(verdict(R"(, "state": "ended")")) == "");
  CHECK(brief(verdict(R"(, "resource": "memory", "statistic": {"unit": "refaults/s", "value": 12})")) ==
        "memory 12 refaults/s");
  CHECK(brief(verdict(R"(, "statistic": {})")) == "cpu");
  CHECK(brief(verdict(R"(, "statistic": {"name": "held_up", "unit": "ratio", "value": 1.84})")) == "cpu 100.0%");
}

TEST_CASE("top has the verdict of a container in its row and in that of its pod") {
  const auto view = parse_top(
      R"({"name": "n1"})",
      R"({"pods": [{"namespace": "shop", "name": "cart", "containers": [{"name": "app", "kind": "regular"}, {"name": "log", "kind": "regular"}]},
         {"namespace": "shop", "name": "cart2", "containers": []}]})",
      answer(""));
  REQUIRE(view);
  REQUIRE(view->rows.size() == 4);
  CHECK(view->rows[0].interference == "cpu 4.2%");
  CHECK(view->rows[1].interference == "cpu 4.2%");
  CHECK(view->rows[2].interference == "");
  CHECK(view->rows[3].interference == "");
  const std::string table = render_top(*view, 0, 0);
  CHECK_MESSAGE(table.find("STALLED  INTERFERENCE\n") != std::string::npos, table);
  CHECK(table.find("cpu 4.2%\n") != std::string::npos);
}

TEST_CASE("an answer of any content is text or an error") {
  CHECK_FALSE(render_interference("[]", false));
  CHECK_FALSE(render_matrix("<html>"));
  for (const char* odd :
       {R"({})", R"({"verdicts": 5})", R"({"verdicts": [5, null, {}, []]})",
        R"({"verdicts": [{"victim": 1, "suspects": [7], "others": {"a": {}}, "windows": {"seen": "x"}}]})",
        R"({"verdicts": [], "judge": {"state": "disabled"}, "resources": [1]})"}) {
    CAPTURE(odd);
    CHECK_FALSE(render(odd).empty());
  }
  for (const char* odd : {R"({})", R"({"matrices": [5]})", R"({"matrices": [{"pairs": [1, {}]}]})"}) {
    CAPTURE(odd);
    CHECK_FALSE(render_matrix(odd)->empty());
  }
}
