// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/shared/usage/annotations.hpp"
#include "plugins/shared/usage/split.hpp"

using namespace koord;
using namespace koord::usage;

namespace {

CpuSet cpus(std::string_view list) {
  return CpuSet::parse(list).value();
}

}  // namespace

TEST_CASE("what is neither pods' nor applications' is the system's") {
  const Split use = split({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, false}}});
  CHECK(use.pods == 8);
  CHECK(use.best_effort == 2);
  CHECK(use.applications == 1);
  CHECK(use.system == 1);
  CHECK(use.others() == 10);
}

TEST_CASE("a best-effort application counts with the best-effort pods") {
  const Split use = split({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, true}}});
  CHECK(use.best_effort == 3);
  CHECK(use.others() == 9);
}

TEST_CASE("parts that are more than the node leave the system nothing, not less") {
  CHECK(split({.node = 11, .pods = {{8, false}, {4, true}}}).system == 0);
}

TEST_CASE("what is reserved for the system is its own, used or not") {
  CHECK(split({.node = 3, .pods = {{2, false}}, .reserved = 1.5}).system == 1.5);
  CHECK(split({.node = 6, .pods = {{2, false}}, .reserved = 1.5}).system == 4);
}

TEST_CASE("reserved is the larger of what the kubelet holds back and what the annotation says") {
  CHECK(reserved(16, 14, 1) == 2);
  CHECK(reserved(16, 14, 3) == 3);
  CHECK(reserved(16, 20, std::nullopt) == 0);
  CHECK(reserved(16, std::nullopt, std::nullopt) == 0);
  CHECK(reserved(std::nullopt, 14, 3) == 3);
}

TEST_CASE("a reservation names CPUs, which count before an amount of them, or amounts") {
  CHECK(parse_reservation(R"({"reservedCPUs":"0-2","resources":{"cpu":"8"}})").value() == Reservation{cpus("0-2"), 3000, std::nullopt});
  CHECK(parse_reservation(R"({"resources":{"cpu":"1500m","memory":"2Gi"}})").value() == Reservation{{}, 1500, 2147483648});
  CHECK(parse_reservation(R"({"resources":{"cpu":2}})").value() == Reservation{{}, 2000, std::nullopt});
  CHECK(parse_reservation("{}").value() == Reservation{});
}

TEST_CASE("a reservation that cannot be read is an error that names the member") {
  CHECK(parse_reservation("").error().message().find("JSON") != std::string::npos);
  CHECK(parse_reservation("[]").error().message().find("object") != std::string::npos);
  CHECK(parse_reservation(R"({"reservedCPUs":"3-1"})").error().message().find("reservedCPUs") != std::string::npos);
  CHECK(parse_reservation(R"({"reservedCPUs":3})").error().message().find("reservedCPUs") != std::string::npos);
  CHECK(parse_reservation(R"({"resources":{"cpu":"many"}})").error().message().find("resources.cpu") != std::string::npos);
  CHECK(parse_reservation(R"({"resources":"2"})").error().message().find("resources") != std::string::npos);
}

TEST_CASE("the CPUs of SYSTEM pods are exclusive unless it is said that they are not") {
  CHECK(parse_system_cpus(R"({"cpuset":"0-1"})").value() == SystemCpus{cpus("0-1"), true});
  CHECK(parse_system_cpus(R"({"cpuset":"0-1","cpusetExclusive":false})").value() == SystemCpus{cpus("0-1"), false});
  CHECK_FALSE(parse_system_cpus(R"({"cpuset":"0-1","cpusetExclusive":"no"})"));
}

TEST_CASE("a pod's CPUs are those of the scheduler's annotation") {
  CHECK(parse_pod_cpus(R"({"cpuset":"0-3","numaNodeResources":[{"node":0}]})").value() == cpus("0-3"));
  CHECK(parse_pod_cpus(R"({"numaNodeResources":[]})").value().empty());
  CHECK_FALSE(parse_pod_cpus(R"({"cpuset":"all"})"));
}

TEST_CASE("an application is best-effort by its class and by where its cgroup lies") {
  const auto names = parse_best_effort_applications(R"({"hostApplications":[
    {"name":"a","qos":"BE","cgroupPath":{"base":"KubepodsBesteffort","relativePath":"x"}},
    {"name":"b","qos":"BE"}, {"name":"c","qos":"BE","cgroupPath":{"base":"CgroupRoot"}},
    {"name":"d","qos":"LS","cgroupPath":{"base":"KubepodsBesteffort"}}, 7, {"qos":"BE","cgroupPath":{"base":"KubepodsBesteffort"}}]})");
  CHECK(names.value() == std::set<std::string>{"a"});
  CHECK(parse_best_effort_applications("").value().empty());
  CHECK(parse_best_effort_applications("{}").value().empty());
  CHECK_FALSE(parse_best_effort_applications("{"));
}
