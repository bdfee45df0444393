// SPDX-License-Identifier: Apache-2.0
#include "core/service/refusal_log.hpp"

#include <doctest/doctest.h>

#include "core/log/capture.hpp"
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::service;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

const Time kStart = from_ns(1'700'000'000'000'000'000);

// A third-party strategy and a third-party advisor. Their requests are refused.
struct Refused {
  FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"},
                {"cgroup/system.slice/cpu.max", "max 100000\n"},
                {"cgroup/system.slice/cpu.weight", "100\n"}};
  FakeHost host{node};
  PluginContext context{host.services(), "com.acme.x", workshop::all_services(), "{}",
                        Rights{.host_plugin = false, .files = {}, .cgroups = {}}};
  log::Capture lines;

  template <class Table>
  const Table& table(const char* id) {
    return *static_cast<const Table*>(context.host()->get_service(context.host(), id));
  }
  koord_status propose(std::string_view knob, std::string_view cgroup_dir) {
    koord_intent intent = {};
    intent.struct_size = sizeof intent;
    intent.level = KOORD_LEVEL_QOS;
    intent.knob = str(knob);
    intent.cgroup_dir = str(cgroup_dir);
    intent.value = str("20000 100000");
    intent.reason = str("busy");
    intent.ttl_ns = 60'000'000'000;
    return table<koord_svc_knobs>("koord.knobs/1").propose(context.host(), &intent, 1, sizeof intent);
  }
  // Counts the lines with all of these parts.
  std::size_t count(std::initializer_list<std::string_view> parts) const {
    std::size_t n = 0;
    for (const std::string& line : lines.lines()) {
      bool has_all = true;
      for (std::string_view part : parts) has_all = has_all && line.find(part) != std::string::npos;
      n += has_all ? 1 : 0;
    }
    return n;
  }
};

}  // namespace

TEST_CASE("a refusal is logged once an hour for each plugin and reason") {
  RefusalLog log;
  CHECK(log.admit("a", "no", kStart) == "no");
  CHECK_FALSE(log.admit("a", "no", kStart + 59min));
  CHECK(log.admit("a", "never", kStart + 59min) == "never");
  CHECK(log.admit("b", "no", kStart + 59min) == "no");
  CHECK(log.admit("a", "no", kStart + 60min) == "no (1 more since the last line)");
  CHECK_FALSE(log.admit("a", "no", kStart + 61min));
}

TEST_CASE("a plugin with many reasons gets one line about the rest, and others their own") {
  RefusalLog log;
  for (std::size_t i = 0; i < RefusalLog::kMaxReasons; ++i) CHECK(log.admit("a", std::to_string(i), kStart));
  CHECK(log.admit("a", "one more", kStart) ==
        "more than 32 different requests were refused within an hour, further ones are not logged");
  CHECK_FALSE(log.admit("a", "and one more", kStart));
  CHECK(log.admit("b", "one more", kStart) == "one more");
  CHECK(log.admit("a", "one more", kStart + 60min) == "one more");
}

TEST_CASE_FIXTURE(Refused, "a refused intent is logged once with plugin, knob, cgroup and reason") {
  for (int i = 0; i < 3; ++i) CHECK(propose("cpu.max", "system.slice") == KOORD_E_DENIED);
  CHECK(count({"WARN", "com.acme.x: intent for knob 'cpu.max' of cgroup 'system.slice' is refused",
               "plugins.settings.com.acme.x.cgroups"}) == 1);
  CHECK(propose("cpu.mox", "system.slice") == KOORD_E_INVALID);
  CHECK(count({"com.acme.x: intent for knob 'cpu.mox' of cgroup 'system.slice' is refused"}) == 1);
  host.clock().advance(61min);
  CHECK(propose("cpu.max", "system.slice") == KOORD_E_DENIED);
  CHECK(count({"'cpu.max' of cgroup 'system.slice' is refused", "(2 more since the last line)"}) == 1);
}

TEST_CASE_FIXTURE(Refused, "a refused request for evictions is logged with the plugin and the reason") {
  koord_eviction eviction = {};
  eviction.struct_size = sizeof eviction;
  for (int i = 0; i < 2; ++i)
    CHECK(table<koord_svc_evict>("koord.evict/1").request(context.host(), &eviction) == KOORD_E_INVALID);
  CHECK(count({"WARN", "com.acme.x: request for evictions is refused: n_pods is 0"}) == 1);
}

TEST_CASE_FIXTURE(Refused, "a third party that reports a capability of others is named") {
  const auto& capabilities = table<koord_svc_capabilities>("koord.capabilities/1");
  CHECK(capabilities.report(context.host(), str("bpf"), KOORD_CAPABILITY_BROKEN, str("so I say")) == KOORD_E_DENIED);
  CHECK(count({"WARN", "com.acme.x: capability 'bpf'",
               "expected 'com.acme.x' or a name that begins with 'com.acme.x/'"}) == 1);
  CHECK(host.capabilities().list().empty());
}

TEST_CASE_FIXTURE(Refused, "a plugin of the host reports any capability") {
  const auto* capabilities = host.service<koord_svc_capabilities>("koord.capabilities/1");
  CHECK(capabilities->report(host.abi(), str("container_psi"), KOORD_CAPABILITY_ABSENT, str("off")) == KOORD_OK);
  CHECK(host.capabilities().list().size() == 1);
}
