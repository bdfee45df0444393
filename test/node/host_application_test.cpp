// SPDX-License-Identifier: Apache-2.0
// advisor-host-application on this machine's kernel: an application that a NodeSLO names has the memory that it has
// touched, and ends with its cgroup.
#include <doctest/doctest.h>

#include "test/node/kernel_counters.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;

namespace {

constexpr double kMiB = 1 << 20;

std::string node_slo(const RealCgroup& cgroup) {
  return R"({"hostApplications":[{"name":"app","qos":"LS","cgroupPath":{"base":"CgroupRoot","relativePath":")" +
         cgroup.dir() + "\"}}]}";
}

}  // namespace

std::optional<std::string> why_not() {
  const koord::cgroup::Layout layout = *koord::cgroup::Layout::detect(koord::NodeRoots());
  if (layout.version(koord::cgroup::Controller::memory)) return std::nullopt;
  return "there is no memory controller";
}

TEST_CASE("a host application has the memory and the CPU of its cgroup until the cgroup ends") {
  RealCgroup cgroup("app");
  RealAdvisor advisor({});
  advisor.host().hub().publish({.node_slo = node_slo(cgroup)});
  const auto value = [&](const char* metric) {
    return advisor.host().value(metric, {{"host_app_name", "app"}}).value_or(-1);
  };
  {
    Inhabitant holder(cgroup, [] { hold_memory(64u << 20); });
    Burner burner(cgroup);
    double bytes = -1;
    const bool settled = eventually([&] {
      advisor.tick();
      bytes = value("host_application_memory_usage");
      return bytes >= 64 * kMiB * 0.97 && bytes <= 64 * kMiB * 1.1;
    });
    INFO("memory: ", bytes);
    CHECK(settled);
    CHECK(value("host_application_memory_usage_with_page_cache") >= bytes);
    CHECK(eventually([&] {
      advisor.tick();
      return value("host_application_cpu_usage") > 0;
    }));
    CHECK(advisor.host().value("host_applications") == 1.0);
  }
  cgroup.remove();
  CHECK(eventually([&] {
    advisor.tick();
    return advisor.host().value("host_applications") == 0.0;
  }));
  CHECK(advisor.host().series("host_application_memory_usage").empty());
}
