// SPDX-License-Identifier: Apache-2.0
// Faults of a whole machine. Its clock is set, and a CPU goes offline. Runs only in an emulated machine
// (KOORD_EMULATED=1, which test/v2 sets). Elsewhere it prints that it is skipped, and changes nothing.
#include <doctest/doctest.h>
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/composed/strategy_rows.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr const char* kSecondCpu = "/sys/devices/system/cpu/cpu1/online";

void set_clock_forth(std::int64_t seconds) {
  timeval now{};
  REQUIRE(::gettimeofday(&now, nullptr) == 0);
  now.tv_sec += seconds;
  REQUIRE(::settimeofday(&now, nullptr) == 0);
}

}  // namespace

TEST_CASE("a clock set an hour forth and back moves no knob, and the strategy has a round each second") {
  Sessions node({.plugins = {"qos-cpu-burst"}, .node_slo = spec(kBurst)});
  node.expect(node.quota_file(node.pods.service), {node.pods.is_v2() ? "20000 100000" : "20000"});
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  for (const std::int64_t seconds : {3600, -3600, -3600, 3600}) {
    CAPTURE(seconds);
    set_clock_forth(seconds);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

TEST_CASE(
    "a CPU that goes offline and comes back leaves no set empty, and best-effort pods come to their least set again") {
  Sessions node({.plugins = {"qos-cpu-suppress"}, .node_slo = spec(kSet)});
  const std::string set =
      node.file(node.pods.is_v2() ? node.pods.besteffort : node.pods.batch, Controller::cpuset, "cpuset.cpus");
  node.expect(set, {"0"});
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  // With only one CPU left no set is needed, and the effective set must not be empty.
  REQUIRE(koord::write_value(kSecondCpu, "0"));
  const double rounds = node.rounds();
  CHECK(eventually([&] { return node.rounds() >= rounds + 5; }, std::chrono::minutes(2)));
  CHECK(koord::trim(koord::read_file(set + (node.pods.is_v2() ? ".effective" : "")).value_or("")) == "0");
  CHECK(node.agent->status_of("/readyz") == 200);
  REQUIRE(koord::write_value(kSecondCpu, "1"));
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK(node.agent->stop() == 0);
}

int main(int argc, char** argv) {
  if (!std::getenv("KOORD_EMULATED")) {
    std::printf("SKIPPED: sets the machine's clock and takes a CPU offline: only in an emulated machine\n");
    return kSkip;
  }
  return doctest::Context(argc, argv).run();
}
