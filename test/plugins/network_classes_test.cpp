// SPDX-License-Identifier: Apache-2.0
// The classes that hook-network proposes, parsed by the host's knob tc.classes.
#include <doctest/doctest.h>

#include "core/knob/traffic_text.hpp"
#include "plugins/hook-network/network_shares.hpp"

using namespace koord;

TEST_CASE("the plugin's classes are a value of tc.classes, and its numbers of classes name them") {
  const auto network = hook_network::parse_network(R"({"systemStrategy": {"totalNetworkBandwidth": "1G"},
    "resourceQOSStrategy": {"beClass": {"networkQOS": {"enable": true, "egressLimit": 50}}}})");
  REQUIRE(network);
  const hook_network::PodFacts limited{"a1b2", "shop/web", "LS", R"({"egressLimit": "20M"})"};
  const hook_network::PodFacts plain{"c3d4", "shop/job", "BE", std::nullopt};
  const hook_network::Plan plan = hook_network::plan(*network, {limited, plain});
  const auto value = knob::parse_value(*knob::find_knob("tc.classes"), plan.classes);
  REQUIRE_MESSAGE(value, plan.classes);
  const knob::TrafficClasses classes = knob::traffic_of(*value);
  CHECK(classes.size() == 5);
  for (const hook_network::PodFacts& pod : {limited, plain}) {
    const auto classid = hook_network::adjust(pod, *network).classid;
    REQUIRE(classid);
    CHECK((*classid >> 16) == knob::kTrafficMajor);
    CHECK(classes.contains(static_cast<std::uint16_t>(*classid & 0xffff)));
  }
}
