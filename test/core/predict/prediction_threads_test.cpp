// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/base/manual_clock.hpp"
#include "core/predict/observation.hpp"
#include "core/predict/prediction.hpp"
#include "core/state/hub.hpp"
#include "core/store/store.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

TEST_CASE("others read whole forecasts while it trains") {
  ManualClock clock;
  auto store = *store::Store::open({}, clock);
  state::Hub hub;
  state::Node node;
  node.allocatable = {{"cpu", 8000}, {"memory", 1 << 30}};
  hub.publish({.node = node, .pods = std::vector<state::Pod>{}});
  REQUIRE(store->begin_series(1, {kNodeCpu, "cores", 1e-4, {}}));
  REQUIRE(store->begin_series(2, {kNodeMemory, "bytes", 1, {}}));
  Prediction prediction({{{12h, 24h}, 30min, 10}, {0s, 10}, 1min, 10min, ""}, *store, hub, clock);

  std::atomic<bool> done = false;
  std::atomic<int> broken = 0;
  std::thread reader([&] {
    for (std::uint64_t last = 0; !done;) {
      ForecastPtr forecast = prediction.current();
      auto known = forecast->subjects.find(node_subject());
      const std::uint64_t samples = known == forecast->subjects.end() ? 0 : known->second.samples;
      // Each training has both the node and the system, or neither.
      if (samples < last || (samples > 0) != forecast->subjects.contains(system_subject())) ++broken;
      if (last > 0 && !prediction.prod()) ++broken;
      last = samples;
      if (prediction.status().models > 7) ++broken;
    }
  });
  for (int i = 0; i < 200; ++i) {
    clock.advance(1min);
    const store::Sample samples[] = {{1, 1.5}, {2, 3e9}};
    REQUIRE(store->append(clock.now(), samples));
    prediction.step();
  }
  done = true;
  reader.join();
  CHECK(broken == 0);
  CHECK(prediction.current()->subjects.at(node_subject()).samples == 200);
}
