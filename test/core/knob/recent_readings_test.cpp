// SPDX-License-Identifier: Apache-2.0
#include "core/knob/recent_readings.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;

namespace {

struct Readings {
  test::FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/be/cpu.max", "50000 100000\n"}};
  KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};
  ManualClock clock;
  RecentReadings readings{files, clock};

  RecentReadings::Recent recent(const std::string& dir = "be") {
    return readings.of(*find_knob("cpu.max"), dir, "", 10s);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Readings, "a reading is trusted until it is too old") {
  CHECK(recent().value == "50000 100000");
  node.write("cgroup/be/cpu.max", "20000 100000\n");
  clock.advance(9s);
  CHECK(recent().value == "50000 100000");
  clock.advance(1s);
  CHECK(recent().value == "20000 100000");
}

TEST_CASE_FIXTURE(Readings, "a cgroup that is not there is looked for each time") {
  CHECK(recent("pod").outcome == Outcome::gone);
  node.write("cgroup/pod/cpu.max", "20000 100000\n");
  CHECK(recent("pod").value == "20000 100000");
}

TEST_CASE_FIXTURE(Readings, "a resctrl group of ours that is not there would be made, one of others would not") {
  node.write("resctrl/schemata", "L3:0=fff\n");
  CHECK(readings.of(*find_knob("resctrl.l3"), "koord-be", "", 10s).outcome == Outcome::shadow);
  CHECK(readings.of(*find_knob("resctrl.l3"), "runtime", "", 10s).outcome == Outcome::gone);
}

TEST_CASE_FIXTURE(Readings,
                  "readings that are not requested any more are forgotten, and read again for later requests") {
  recent();
  node.write("cgroup/be/cpu.max", "20000 100000\n");
  readings.forget(*find_knob("cpu.max"), "be", "");
  CHECK(recent().value == "20000 100000");
}
