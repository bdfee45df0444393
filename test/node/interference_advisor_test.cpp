// SPDX-License-Identifier: Apache-2.0
// The installed advisor-interference on this machine's kernel: a service and a hog on one CPU.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "test/node/real_advisor.hpp"
#include "test/support/cpu_workloads.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

std::optional<std::string> why_not() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return "the kernel has no types";
  return std::nullopt;
}

TEST_CASE("a service beside a hog is interfered with, by the hog, until that ends") {
  const RealCgroup parent("interference");
  set_weight(parent, 10'000);  // preferred to everything else during this test
  const RealCgroup service(parent, "service"), hog(parent, "hog");
  set_weight(hog, 400);  // the service gets less than it needs
  const koord::metric::Labels interfered = {{"resource", "cpu"}, {"kind", "interfered"}};
  RealAdvisor advisor({&service, &hog});
  const auto serving = start_in(service, serve);
  const auto has_verdict = [&] { return advisor.value("container_interference", service, interfered) == 1.0; };
  const auto waited = [&](const char* cause) {
    return advisor.value("container_held_up_seconds_total", service, {{"resource", "cpu"}, {"cause", cause}})
        .value_or(0);
  };

  int windows = 0;
  REQUIRE(collect_until(advisor, [&] { return ++windows > 10; }));
  CHECK(advisor.host().value("interference_slots").value_or(0) >= 512);
  CHECK(advisor.host().value("interference_slots_used").value_or(0) >= 2);
  for (const char* reason : {"no_pair", "no_slot", "unknown"})
    CHECK(advisor.host().value("interference_lost_seconds_total", {{"reason", reason}}));
  for (const char* reason : {"no_begin", "missed"})
    CHECK(advisor.host().value("interference_lost_waits_total", {{"reason", reason}}));
  CHECK(waited("others") == 0);
  const double before_hog = waited("unexplained");

  auto spinning = start_in(hog, spin);
  REQUIRE(collect_until(advisor, [&] { return has_verdict() && waited("others") > 0.2; }));
  CHECK(advisor.value("container_held_up_ratio", service, {{"resource", "cpu"}, {"over", "1ms"}}).value_or(0) > 0.01);
  // The host of a virtual machine may stop a CPU for some time.
  CHECK(waited("unexplained") - before_hog < 0.25 * waited("others"));

  spinning.reset();
  advisor.tick();  // includes the last waits for the hog
  const double by_hog = waited("others");
  const auto for_machine = [&] { return waited("outside") + waited("kernel"); };
  const double before = for_machine();
  // On a machine that is busy with other work, the service waits for that work.
  CHECK(collect_until(advisor, [&] { return !has_verdict() || for_machine() > before + 0.05; }));
  CHECK(waited("others") < by_hog + 0.05);
}

TEST_CASE("settings that do not fit are named, with their value and what is expected") {
  const auto why = [](const std::string& rule) {
    FakeHost host(koord::NodeRoots(), R"({"rule": )" + rule + "}");
    FakeInstance advisor(host, shared_object());
    CHECK(advisor.init() == KOORD_E_INVALID);
    return advisor.why();
  };
  CHECK(why(R"({"windows": 2})").find("rule.windowsWithFinding is 3, expected at most windows, 2") !=
        std::string::npos);
  CHECK(why(R"({"clearAfter": "soon"})").find("rule.clearAfter is 'soon', expected a time such as 10s") !=
        std::string::npos);
  CHECK(why(R"({"heldUpMsPerSecond": 0})").find("rule.heldUpMsPerSecond is 0, expected 0.1 to 10000") !=
        std::string::npos);
}

TEST_CASE("a container that its own quota throttles is at fault itself") {
  const RealCgroup limited("limited");
  set_weight(limited, 10'000);  // preferred to everything else during this test
  limited.limit_cpu(0.2);
  RealAdvisor advisor({&limited});
  const auto spinning = start_in(limited, spin);
  const auto verdict = [&](const char* kind) {
    return advisor.value("container_interference", limited, {{"resource", "cpu"}, {"kind", kind}});
  };
  REQUIRE(collect_until(advisor, [&] { return verdict("self-quota") == 1.0; }));
  CHECK(verdict("interfered") == 0.0);
}

TEST_CASE("a container has a verdict that names its sibling if that uses up the quota of their pod") {
  const RealCgroup pod("shared");
  set_weight(pod, 10'000);  // preferred to everything else during this test
  const RealCgroup victim(pod, "victim"), sibling(pod, "sibling");
  pod.limit_cpu(0.4);
  RealAdvisor advisor({&victim, &sibling});
  const auto spinning = start_in(sibling, spin_elsewhere), serving = start_in(victim, serve_lightly);
  const auto verdict = [&](const RealCgroup& cgroup, const char* kind) {
    return advisor.value("container_interference", cgroup, {{"resource", "cpu"}, {"kind", kind}});
  };
  REQUIRE(collect_until(advisor, [&] { return verdict(victim, "shared-parent") == 1.0; }));
  CHECK(verdict(victim, "self-quota") == 0.0);
  std::string text;
  for (const auto& event : advisor.host().events()) {
    CHECK_FALSE(event.why.starts_with(victim.dir() + ": self-quota"));
    if (event.why.starts_with(victim.dir() + ": shared-parent")) text = event.why;
  }
  CHECK(text.find("waited for " + sibling.dir()) != std::string::npos);
  // The sibling used up the quota itself.
  CHECK(collect_until(advisor, [&] { return verdict(sibling, "self-quota") == 1.0; }));
}
