// SPDX-License-Identifier: Apache-2.0
// Requests to the hook of an instance that is in time, late, fails, or never answers.
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

#include "core/host/hook_call.hpp"
#include "core/host/instance.hpp"
#include "stage.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;
using koord::test::Door;
using koord::test::PuppetCall;
using koord::test::Stage;

TEST_CASE("a hook answers while it runs, and after a panic again") {
  Stage stage("hook");
  auto reply = [&] {
    auto subject = std::make_shared<const HookSubject>(HookRequest{.stage = KOORD_STAGE_PRE_CREATE_CONTAINER});
    auto call = std::make_shared<HookCall>(subject, stage.host().clock().now(), test::kLongEnough);
    stage.instance().handle(call);
    return call->await();
  };
  CHECK(reply().text == "it does not run");
  REQUIRE(stage.run());
  stage.puppet().on("handle", [](const PuppetCall&) -> koord_status { throw std::runtime_error("thrown in handle"); });
  CHECK(reply().text == "KOORD_E_PANIC: thrown in handle");
  stage.puppet().on("handle", {});
  CHECK(reply().kind == HookReply::Kind::answered);
  REQUIRE(stage.stop());
  CHECK(reply().kind == HookReply::Kind::failed);
}

TEST_CASE("a hook that is late is not waited for, and gets the next request") {
  Stage stage("hook");
  Door door;
  stage.puppet().on("handle", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  REQUIRE(stage.run());
  auto ask = [&](Duration patience) {
    auto subject = std::make_shared<const HookSubject>(HookRequest{.stage = KOORD_STAGE_PRE_CREATE_CONTAINER});
    auto call = std::make_shared<HookCall>(subject, stage.host().clock().now(), patience);
    stage.instance().handle(call);
    return call;
  };
  CHECK(ask(1ms)->await().kind == HookReply::Kind::timed_out);
  auto next = ask(test::kLongEnough);
  door.open();
  CHECK(next->await().kind == HookReply::Kind::answered);
}

TEST_CASE("a hook in this process that never comes back is abandoned, with the name of the call") {
  Door door;
  {
    Stage stage("hook", {.wedged_after = 20ms});
    stage.puppet().on("handle", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
    stage.instance().set_limits(1h, 1h);
    REQUIRE(stage.run());
    stage.instance().set_limits(1h, 20ms);
    auto subject = std::make_shared<const HookSubject>(HookRequest{.stage = KOORD_STAGE_PRE_CREATE_CONTAINER});
    stage.instance().handle(std::make_shared<HookCall>(subject, stage.host().clock().now(), test::kLongEnough));
    REQUIRE(stage.await(PluginState::wedged));
    CHECK(stage.instance().status().reason == "handle() did not return within 20ms");
  }
  door.open();
}
