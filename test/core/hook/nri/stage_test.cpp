// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/stage.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace koord;
using namespace koord::nri;

TEST_CASE("the mask has one bit for each event, in the order of the protocol") {
  CHECK(mask_of(Stage::run_pod_sandbox) == 0x0001);
  CHECK(mask_of(Stage::create_container) == 0x0008);
  CHECK(mask_of(Stage::remove_container) == 0x0400);
  CHECK(mask_of(Stage::post_update_pod_sandbox) == 0x1000);
  CHECK(mask_of(Stage::synchronize) == 0);
}

TEST_CASE("events that a runtime may not know are left out of its mask") {
  CHECK(events_of({"containerd", "1.7.24"}) == 0x7FF);
  CHECK(events_of({"containerd", "v2.1.4"}) == 0x7FF);
  CHECK(events_of({"containerd", "v2.2.0"}) == 0x1FFF);
  CHECK(events_of({"containerd", "2.10.1-rc.1"}) == 0x1FFF);
  CHECK(events_of({"cri-o", "1.35.0"}) == 0x7FF);
  CHECK(events_of({"cri-o", "1.36.0", "v0.12.0"}) == 0x1FFF);
  CHECK(events_of({"containerd", "2.3.0", "0.9.0"}) == 0x7FF);
  CHECK(events_of({"containerd", "unknown"}) == 0x7FF);
  CHECK(events_of({"containerd", "3"}) == 0x7FF);
  CHECK(events_of({}) == 0x7FF);
}

TEST_CASE("an event has the name of its method") {
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    CHECK(stage_of_method(to_string(stage)) == stage);
  }
  CHECK(to_string(Stage::post_start_container) == "PostStartContainer");
  CHECK_FALSE(stage_of_method("ValidateContainerAdjustment"));
  CHECK_FALSE(stage_of_method(""));
}

TEST_CASE("a number of StateChange that is not an event is found") {
  CHECK(stage_of_event(1) == Stage::run_pod_sandbox);
  CHECK(stage_of_event(13) == Stage::post_update_pod_sandbox);
  for (const std::int32_t number : {-1, 0, 14, 1000}) CHECK_FALSE(stage_of_event(number));
}
