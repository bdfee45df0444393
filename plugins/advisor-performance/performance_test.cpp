// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

TEST_CASE("on a node without a hierarchy for perf_event the plugin is absent") {
  FakeNode node({{"cgroup/cpu/", ""}, {"sys/devices/system/cpu/online", "0"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("neither a hierarchy with perf_event nor a unified one") != std::string::npos);
}

TEST_CASE("if the hierarchy's directory is not a real cgroup the plugin is absent, with the kernel's reason") {
  FakeNode node({{"cgroup/perf_event/", ""}, {"sys/devices/system/cpu/online", "0"}});
  FakeHost host(node, R"({"cycles": "PERF_COUNT_SW_CPU_CLOCK", "instructions": "PERF_COUNT_SW_TASK_CLOCK"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("cannot count 'PERF_COUNT_SW_CPU_CLOCK' on CPU 0") != std::string::npos);
}

TEST_CASE("an event of the configuration that does not exist is refused by name") {
  FakeNode node({{"cgroup/cgroup.controllers", ""}, {"sys/devices/system/cpu/online", "0"}});
  FakeHost host(node, R"({"llcMisses": "NO_SUCH_EVENT"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_INVALID);
  CHECK(advisor.why().find("'NO_SUCH_EVENT'") != std::string::npos);
}

TEST_CASE("an interval that is not a time is refused with the expected form") {
  FakeNode node({{"cgroup/cgroup.controllers", ""}, {"sys/devices/system/cpu/online", "0"}});
  FakeHost host(node, R"({"interval": "often"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_INVALID);
  CHECK(advisor.why() == "interval: 'often' is not a duration, expected one such as 60s");
}
