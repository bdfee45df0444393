// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/qos-cpu-suppress/best_effort_applications.hpp"
#include "plugins/qos-cpu-suppress/usage_split.hpp"

using namespace koord;
using namespace koord::usage;

TEST_CASE("usage outside of pods and applications is the system's") {
  const Split use = split({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, false}}});
  CHECK(use.pods == 8);
  CHECK(use.best_effort == 2);
  CHECK(use.applications == 1);
  CHECK(use.system == 1);
  CHECK(use.others() == 10);
}

TEST_CASE("a best-effort application counts like best-effort pods") {
  const Split use = split({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, true}}});
  CHECK(use.best_effort == 3);
  CHECK(use.others() == 9);
}

TEST_CASE("if the parts exceed the node's usage, the system has 0 and not less") {
  CHECK(split({.node = 11, .pods = {{8, false}, {4, true}}}).system == 0);
}

TEST_CASE("the system's reservation is its own, used or not") {
  CHECK(split({.node = 3, .pods = {{2, false}}, .reserved = 1.5}).system == 1.5);
  CHECK(split({.node = 6, .pods = {{2, false}}, .reserved = 1.5}).system == 4);
}

TEST_CASE("reserved is the larger of the kubelet's reservation and the annotation") {
  CHECK(reserved(16, 14, 1) == 2);
  CHECK(reserved(16, 14, 3) == 3);
  CHECK(reserved(16, 20, std::nullopt) == 0);
  CHECK(reserved(16, std::nullopt, std::nullopt) == 0);
  CHECK(reserved(std::nullopt, 14, 3) == 3);
}

TEST_CASE("an application is best-effort by its class and by the place of its cgroup") {
  const auto names = parse_best_effort_applications(R"({"hostApplications":[
    {"name":"a","qos":"BE","cgroupPath":{"base":"KubepodsBesteffort","relativePath":"x"}},
    {"name":"b","qos":"BE"}, {"name":"c","qos":"BE","cgroupPath":{"base":"CgroupRoot"}},
    {"name":"d","qos":"LS","cgroupPath":{"base":"KubepodsBesteffort"}}, 7, {"qos":"BE","cgroupPath":{"base":"KubepodsBesteffort"}}]})");
  CHECK(names.value() == std::set<std::string>{"a"});
  CHECK(parse_best_effort_applications("").value().empty());
  CHECK(parse_best_effort_applications("{}").value().empty());
  CHECK_FALSE(parse_best_effort_applications("{"));
}
