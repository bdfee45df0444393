// SPDX-License-Identifier: Apache-2.0
#include "core/service/capability_board.hpp"

#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::service;
using namespace koord::test;

TEST_CASE("the host's own word counts before a plugin's") {
  CapabilityBoard board;
  board.set({{"bpf", CapabilityState::supported, "", ""}});
  REQUIRE(board.report({"bpf", CapabilityState::broken, "", "com.example.x"}));
  CHECK(board.find("bpf", "com.example.x")->state == CapabilityState::supported);
}

TEST_CASE("a plugin's own report counts before another plugin's") {
  CapabilityBoard board;
  REQUIRE(board.report({"disk", CapabilityState::absent, "", "a"}));
  REQUIRE(board.report({"disk", CapabilityState::broken, "", "b"}));
  CHECK(board.find("disk", "b")->state == CapabilityState::broken);
  CHECK(board.find("disk", "c")->state == CapabilityState::absent);
  CHECK_FALSE(board.find("tape"));
}

TEST_CASE("a report replaces the plugin's one before it, and goes with the plugin") {
  CapabilityBoard board;
  REQUIRE(board.report({"disk", CapabilityState::broken, "", "a"}));
  REQUIRE(board.report({"disk", CapabilityState::supported, "found", "a"}));
  CHECK(board.list() == std::vector<Capability>{{"disk", CapabilityState::supported, "found", "a"}});
  board.forget("a");
  CHECK(board.list().empty());
}

TEST_CASE("a plugin reports a limited number of names") {
  CapabilityBoard board;
  for (std::size_t i = 0; i < CapabilityBoard::kMaxReportsPerPlugin; ++i)
    REQUIRE(board.report({"c" + std::to_string(i), CapabilityState::absent, "", "a"}));
  CHECK_FALSE(board.report({"one more", CapabilityState::absent, "", "a"}));
  CHECK(board.report({"c0", CapabilityState::broken, "", "a"}));
  CHECK(board.report({"c0", CapabilityState::broken, "", "b"}));
}

TEST_CASE("a plugin asks for capabilities and reports its own") {
  OnHost<koord_svc_capabilities> on("koord.capabilities/1");
  on.host.capabilities().set({{"psi", CapabilityState::absent, "", ""}});
  std::uint32_t state = 0;
  CHECK(on.service->get(on.abi, str("psi"), &state) == KOORD_OK);
  CHECK(state == KOORD_CAPABILITY_ABSENT);
  CHECK(on.service->get(on.abi, str("tape"), &state) == KOORD_E_NOT_FOUND);
  CHECK(on.service->report(on.abi, str("tape"), KOORD_CAPABILITY_BROKEN, str("no reel")) == KOORD_OK);
  CHECK(on.host.capabilities().find("tape") == Capability{"tape", CapabilityState::broken, "no reel", "test"});
}

TEST_CASE("a report without a name or with an unknown state is refused") {
  OnHost<koord_svc_capabilities> on("koord.capabilities/1");
  CHECK(on.service->report(on.abi, str(""), KOORD_CAPABILITY_ABSENT, str("")) == KOORD_E_INVALID);
  CHECK(on.service->report(on.abi, str("x"), 4, str("")) == KOORD_E_INVALID);
  CHECK(on.service->get(on.abi, str("x"), nullptr) == KOORD_E_INVALID);
}
