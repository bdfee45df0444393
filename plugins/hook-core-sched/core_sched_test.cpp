// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-core-sched/core_sched.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::core_sched;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

TEST_CASE("a container's group is computed from the labels of its pod and the class") {
  struct Row {
    const char *group, *policy;
    Rules rules;
    std::optional<std::string> expected;
  };
  for (const Row& row : {Row{"", "", {false, false}, std::nullopt}, Row{"a", "exclusive", {false, true}, std::nullopt},
                         Row{"", "", {true, false}, "group/"}, Row{"", "", {true, true}, "expeller/group/"},
                         Row{"a", "", {true, false}, "group/a"}, Row{"a", "", {true, true}, "expeller/group/a"},
                         Row{"a", "none", {true, true}, ""}, Row{"a", "exclusive", {true, false}, "pod/u-1"},
                         Row{"", "exclusive", {true, true}, "expeller/pod/u-1"}}) {
    CAPTURE(row.group);
    CAPTURE(row.policy);
    CHECK(adjust({"u-1", row.group, row.policy}, row.rules) == Adjustment{row.expected});
  }
}

TEST_CASE("a label cannot name the group of another kind") {
  const Rules on{true, false}, expeller{true, true};
  CHECK(adjust({"u-1", "a-expeller", ""}, on).group != adjust({"u-2", "a", ""}, expeller).group);
  CHECK(adjust({"u-1", "u-2", ""}, on).group != adjust({"u-2", "", "exclusive"}, on).group);
  CHECK(adjust({"u-1", "__0__", ""}, on).group != adjust({"u-2", "", "none"}, on).group);
}

TEST_CASE("an invalid label is ignored with its reason") {
  const Rules on{true, false};
  CHECK(adjust({"u-1", "a", "shared"}, on) ==
        Adjustment{std::nullopt,
                   "koordinator.sh/core-sched-policy is 'shared', expected none, exclusive or no value; its "
                   "containers keep their group"});
  for (const std::string& wrong : {std::string("a b"), std::string("a/b"), std::string("a\nb"), std::string(64, 'a'),
                                   std::string("a\0b", 3), std::string("#0")}) {
    CAPTURE(wrong);
    const Adjustment adjustment = adjust({"u-1", wrong, ""}, on);
    CHECK_FALSE(adjustment.group);
    CHECK(adjustment.problem.starts_with("koordinator.sh/core-sched-group-id is '"));
  }
}

TEST_CASE("the hook answers for containers of enabled classes while cpuPolicy is coreSched") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  Pod pod;
  pod.uid = "u-1";
  pod.koord_qos = koord::state::KoordQos::ls;
  pod.labels = {{"koordinator.sh/core-sched-group-id", "a"}};
  koord::state::Container main;
  main.name = "main";
  pod.containers = {main};
  const auto group = [&](const char* policy, const char* of_class) {
    const auto fields = hook.handle(pod, &pod.containers[0],
                                    std::string(R"({"resourceQOSStrategy":{"policies":)") + policy +
                                        R"(,"lsClass":{"cpuQOS":)" + of_class + "}}}")
                            .fields;
    return fields.empty() ? std::string("-") : fields[0].first + "=" + fields[0].second;
  };
  const char *on = R"({"enable":true})", *policy = R"({"cpuPolicy":"coreSched"})";
  CHECK(group(policy, on) == "linux.core_sched.group=group/a");
  CHECK(group(policy, R"({"enable":true,"coreExpeller":true})") == "linux.core_sched.group=expeller/group/a");
  CHECK(group(R"({"cpuPolicy":"groupIdentity"})", on) == "-");
  CHECK(group("{}", on) == "-");
  CHECK(group(policy, R"({"enable":false})") == "-");
  CHECK(group(policy, "{}") == "-");
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());  // the NodeSLO is unknown
  CHECK(hook.handle(pod, &pod.containers[0], "{").fields.empty());
  pod.labels = {{"koordinator.sh/core-sched-policy", "none"}};
  CHECK(group(policy, on) == "linux.core_sched.group=");
  pod.koord_qos = koord::state::KoordQos::system;
  CHECK(group(policy, on) == "-");
}
