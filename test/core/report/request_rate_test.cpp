// SPDX-License-Identifier: Apache-2.0
// The request rate of the agents of a whole cluster.
#include <doctest/doctest.h>

#include "many_agents.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

int all(const Second& second) { return second.all(); }

int watches(const Second& second) { return second.watches; }

int lists(const Second& second) { return second.lists; }

int writes(const Second& second) { return second.writes; }

int served(const Second& second) { return static_cast<int>(second.served.size()); }

}  // namespace

TEST_CASE("five thousand nodes that are well write once in 58 s each at most, and ask little else, evenly") {
  const ManyAgents agents({}, 90min);
  MESSAGE("in a second: writes " << agents.most(15min, 90min, writes) << ", watches "
                                 << agents.most(15min, 90min, watches));
  for (Duration minute = 15min; minute < 90min; minute += 1min)
    CHECK(agents.sum(minute, minute + 1min, writes) <= kNodes + kNodes / 30);
  CHECK(agents.most(15min, 90min, writes) <= 2 * kNodes / 60);
  CHECK(agents.most(15min, 90min, watches) <= 3 * kReflectors / 900);  // each once in a quarter of an hour on average
  CHECK(agents.most(15min, 90min, lists) == 0);
  CHECK(agents.behind() == 0);
}

TEST_CASE("an API server that was away for two hours is not run over by five thousand nodes when it is back") {
  const Duration down = 30min, back = down + 2h, end = back + 30min;
  const ManyAgents agents({.down_from = down, .down_to = back}, end);
  MESSAGE("requests in a second: " << agents.most(down, down + 1min, all) << " when it goes, "
                                   << agents.most(down + 10min, back, all) << " while it is away, "
                                   << agents.most(back, back + 10min, all) << " when it is back, of at most "
                                   << agents.most(back, back + 10min, served) << " nodes");
  // The server goes down, and all watches break at the same time. In each second at most one watch in nine is tried
  // again.
  CHECK(agents.most(down, down + 10min, all) <= kReflectors / 9);
  // While it is down, a collection is tried every 90 s and a report every 45 s.
  CHECK(agents.most(down + 10min, back, watches) <= 1.5 * kReflectors / 90);
  CHECK(agents.most(down + 10min, back, writes) <= 1.5 * kNodes / 45);
  // The server is up again, and all agents have current state within 150 s. In each second at most an eighth of the
  // nodes is served.
  CHECK(agents.most(back, end, all) <= kReflectors / 20);
  CHECK(agents.most(back, end, served) <= kNodes / 8);
  CHECK(agents.sum(back, back + 150s, lists) == kReflectors);
  CHECK(agents.sum(back + 150s, end, lists) == 0);
  CHECK(agents.behind() == 0);
  // After that the rate is as low as before the outage. No node ever wrote twice within ten seconds.
  CHECK(agents.most(back + 20min, end, writes) <= 2 * kNodes / 60);
  CHECK(agents.shortest_gap() >= 10s);
}

TEST_CASE("an API server that takes a fraction of what is asked of it gets asked less, until all are served") {
  const Duration down = 30min, back = down + 10min, end = back + 1h;
  const ManyAgents agents({.down_from = down, .down_to = back, .capacity = 200}, end);
  MESSAGE("requests in a second: " << agents.most(back, end, all) << " at first, " << agents.most(end - 10min, end, all)
                                   << " in the end");
  CHECK(agents.most(back, end, all) <= kReflectors / 20);
  CHECK(agents.most(end - 10min, end, all) <= 200);
  CHECK(agents.behind() == 0);
}
