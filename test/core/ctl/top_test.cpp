// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/top_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace koord::ctl;

namespace {

const char* const kNode =
    R"({"name": "n1", "time": 1700000000, "cpus": [{"cpu": 0, "online": true}, {"cpu": 1, "online": false}],
  "memoryBytes": 2048, "values": {"node_cpu_usage": 0.5}})";

const char* const kPods =
    R"({"pods": [{"namespace": "web", "name": "front", "qosClass": "LS", "values": {"pod_cpu_usage": 0.25},
    "containers": [{"name": "app", "kind": "regular", "values": {"container_cpu_usage": 0.2, "container_memory_usage": 2048}}]}],
  "containers": [{"id": "", "name": "ssh.service", "kind": "service", "values": {"container_cpu_usage": 0.75}},
    {"name": "idle.service", "kind": "service", "values": {}}]})";

std::vector<std::string> names(const std::vector<TopRow>& rows) {
  std::vector<std::string> names;
  for (const TopRow& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("top shows pods with their containers, and what runs outside pods") {
  auto view = parse_top(kNode, kPods);
  REQUIRE(view);
  CHECK(names(view->rows) == std::vector<std::string>{"web/front", "web/front/app", "ssh.service", "idle.service"});
  CHECK(view->rows[1].kind == "container");
  CHECK(view->rows[1].qos == "LS");
  CHECK(view->rows[1].usage.memory_bytes == 2048.0);
  CHECK(view->online_cpus == 1);
  CHECK(view->memory_total_bytes == 2048.0);
}

TEST_CASE("top puts the largest first and what is unknown last") {
  auto view = parse_top(kNode, kPods);
  REQUIRE(view);
  sort_rows(view->rows, TopOrder::cpu);
  CHECK(names(view->rows) == std::vector<std::string>{"ssh.service", "web/front", "web/front/app", "idle.service"});
}

TEST_CASE("top shows the share of throttled periods and of stalled time in percent") {
  auto view = parse_top(kNode, R"({"pods": [], "containers": [{"name": "x", "kind": "cgroup",
    "values": {"container_cpu_throttled": 0.25, "container_memory_stall_ratio": 1.5}}]})");
  REQUIRE(view);
  std::string text = render_top(*view, 0, 0);
  CHECK(text.find("25.0%") != std::string::npos);
  CHECK(text.find("150.0%") != std::string::npos);
}

TEST_CASE("an unknown value is a dash, not a zero") {
  auto view = parse_top(kNode, R"({"pods": [], "containers": [{"name": "x", "kind": "cgroup", "values": {}}]})");
  REQUIRE(view);
  std::string text = render_top(*view, 0, 0);
  CHECK(text.find("cgroup  x            -       -         -         -         -          -        -             -\n") !=
        std::string::npos);
  CHECK(text.find("cpu 0.500 of 1 cores   memory - of 2.00Ki") != std::string::npos);
}

TEST_CASE("top never prints more lines than the screen has") {
  auto view = parse_top(kNode, kPods);
  REQUIRE(view);
  std::string text = render_top(*view, 80, 5);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
}

namespace {

TopRow row(std::string name, Usage usage, std::string verdict = {}) {
  return {"container", std::move(name), "LS", usage, std::move(verdict)};
}

Usage usage(double cores, std::optional<double> wait, std::optional<double> throttled, std::optional<double> stalled) {
  return {cores, 1024, wait, wait, wait, throttled, stalled};
}

}  // namespace

TEST_CASE(
    "top by harm puts verdicts about others first, then those about itself, then what is throttled, stalled or waits") {
  std::vector<TopRow> rows{
      row("hog", usage(7, 1e-4, std::nullopt, 0)),      row("waits", usage(0.1, 0.09, std::nullopt, 0)),
      row("throttled", usage(0.1, 0.001, 0.5, 0)),      row("own", usage(0.1, 0.001, 1, 0), "own cpu 20%"),
      row("victim", usage(0.1, 0.001, 0, 0), "cpu 1%"), row("unknown", Usage())};
  sort_rows(rows, TopOrder::harm);
  CHECK(names(rows) == std::vector<std::string>{"victim", "own", "waits", "throttled", "hog", "unknown"});
}

TEST_CASE("top folds rows that are known to use nothing and not held up, says how many, and shows unknown ones") {
  TopView view;
  view.rows = {row("victim", usage(0.001, 0.001, 0, 0), "cpu 1%"), row("idle", usage(0.001, 1e-4, 0, 0)),
               row("throttled", usage(0.001, 1e-4, 0.01, 0)), row("silent", Usage())};
  shorten(view, true, 0);
  CHECK(names(view.rows) == std::vector<std::string>{"victim", "throttled", "silent"});
  CHECK(render_top(view, 0, 0).ends_with("\n1 idle; --all shows them\n"));
}

TEST_CASE("top shows at most as many rows as --limit says, and how many more there are") {
  TopView view;
  for (const char* name : {"a", "b", "c"}) view.rows.push_back(row(name, usage(1, 0, 0, 0)));
  shorten(view, true, 2);
  CHECK(names(view.rows) == std::vector<std::string>{"a", "b"});
  CHECK(render_top(view, 0, 0).ends_with("\n1 more; --limit 0 shows them\n"));
  // On a screen of five lines it replaces the last row.
  const std::string text = render_top(view, 80, 5);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(text.ends_with("\n1 more; --limit 0 shows them\n"));
}

TEST_CASE("an answer that is not what was expected is an error or empty, never a crash") {
  CHECK_FALSE(parse_top("[]", kPods));
  CHECK_FALSE(parse_top(kNode, "<html>"));
  auto view = parse_top(R"({"name": 5, "cpus": 7, "values": []})", R"({"pods": [5, {}], "containers": {"a": 1}})");
  REQUIRE(view);
  CHECK(view->node.empty());
}
