// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-oom-score-adj/oom_score_adj.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::oom_score;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

TEST_CASE("a container's score is that of the spec annotation, or else that of the annotation for all containers") {
  struct Row {
    const char *all, *spec;  // nullptr: missing
    std::optional<std::int64_t> score;
  };
  for (const Row& row : {Row{nullptr, nullptr, std::nullopt}, Row{"500", nullptr, 500}, Row{"-1000", nullptr, -1000},
                         Row{"1000", nullptr, 1000}, Row{"0", nullptr, 0}, Row{nullptr, R"({"main": 300})", 300},
                         Row{"500", R"({"main": 300})", 300}, Row{"500", R"({"side": 300})", 500},
                         Row{nullptr, R"({"side": 300})", std::nullopt}, Row{"500", "{}", 500},
                         Row{"500", R"({"main": -999, "side": 1})", -999}}) {
    CAPTURE(row.all);
    CAPTURE(row.spec);
    Annotations annotations;
    if (row.all != nullptr) annotations.all = row.all;
    if (row.spec != nullptr) annotations.spec = row.spec;
    CHECK(adjust("main", annotations) == Adjustment{row.score});
  }
}

TEST_CASE("an invalid score is ignored with its reason, and the other annotation is not used instead") {
  for (const char* wrong : {"", "1001", "-1001", "5.5", "high", "1e3", "99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK(adjust("main", {wrong, std::nullopt}) ==
          Adjustment{std::nullopt, "koordinator.sh/oom-score-adj is '" + std::string(wrong) +
                                       "', expected an integer from -1000 to 1000, ignoring it"});
  }
  CHECK(adjust("main", {"500", R"({"main": 1001})"}) ==
        Adjustment{std::nullopt,
                   "koordinator.sh/oom-score-adj-spec: container 'main' has 1001, expected an integer from "
                   "-1000 to 1000, ignoring it"});
  for (const char* wrong : {R"({"main": "5"})", R"({"main": 5.5})", R"({"main": null})", R"({"main": [5]})",
                            R"({"main": 18446744073709551615})", "", "[]", "7", "{", R"({"main": 5)"}) {
    CAPTURE(wrong);
    const Adjustment adjustment = adjust("main", {"500", wrong});
    CHECK_FALSE(adjustment.score);
    CHECK(adjustment.problem.starts_with("koordinator.sh/oom-score-adj-spec: "));
  }
}

TEST_CASE("the hook answers for containers of pods with the annotations, and for no sandbox") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  Pod pod;
  pod.uid = pod.name = "web";
  koord::state::Container main;
  main.name = "main";
  pod.containers = {main};
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
  pod.annotations = {{"koordinator.sh/oom-score-adj", "500"}};
  using Fields = decltype(koord::host::HookSettings::fields);
  CHECK(hook.handle(pod, &pod.containers[0]).fields == Fields{{"linux.oom_score_adj", "500"}});
  CHECK(hook.handle(pod).fields.empty());
  pod.annotations = {{"koordinator.sh/oom-score-adj", "5000"}};
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
}
