// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/volume_facts.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::agentd;

namespace {

state::Pod pod_with(std::vector<state::PodVolume> volumes) {
  state::Pod pod;
  pod.uid = "u1";
  pod.name = "db-0";
  pod.namespace_ = "shop";
  pod.volumes = std::move(volumes);
  return pod;
}

struct Facts {
  ManualClock clock;
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  state::Hub hub;
  VolumeFacts facts{hub, *store};

  std::string reported() {
    facts.poll();
    const auto bytes = store->get("host/pod_volumes");
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "(nothing)";
  }
};

}  // namespace

TEST_CASE("a claim's directory is named after its volume; that of an ephemeral volume is named by the pod") {
  Facts facts;
  facts.hub.publish({.pods = std::vector{pod_with({{"data", "claim-7"}, {"scratch", ""}})}});
  facts.hub.publish({.volumes = state::StringMap{{"shop/claim-7", "pv-7"}, {"other/claim-7", "pv-8"}}});
  CHECK(facts.reported() == R"({"u1":{"data":"pv-7","scratch":"scratch"}})");
}

TEST_CASE("a claim is left out until it is known and bound") {
  Facts facts;
  facts.hub.publish({.pods = std::vector{pod_with({{"data", "claim-7"}})}});
  CHECK(facts.reported() == "{}");
  facts.hub.publish({.volumes = state::StringMap{{"shop/claim-7", "pv-7"}}});
  CHECK(facts.reported() == R"({"u1":{"data":"pv-7"}})");
  facts.hub.publish({.pods = std::vector<state::Pod>{}});
  CHECK(facts.reported() == "{}");
}

TEST_CASE("while no pods are known nothing is reported") {
  Facts facts;
  CHECK(facts.reported() == "(nothing)");
}
