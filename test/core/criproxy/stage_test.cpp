// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/stage.hpp"

#include <doctest/doctest.h>

using namespace koord::criproxy;

TEST_CASE("only the calls that hooks are asked about are parsed") {
  CHECK(hooked_method("/runtime.v1.RuntimeService/CreateContainer") == Method::create);
  for (const char* path : {"/runtime.v1.RuntimeService/ListContainers", "/runtime.v1.ImageService/CreateContainer",
                           "/runtime.v2.RuntimeService/CreateContainer", "CreateContainer", ""})
    CHECK_FALSE(hooked_method(path));
}

TEST_CASE("each call has the stages of koordlet") {
  CHECK(stage_before(Method::run_pod) == "PreRunPodSandbox");
  CHECK(stage_after(Method::stop_pod) == "PostStopPodSandbox");
  CHECK(stage_before(Method::create) == "PreCreateContainer");
  CHECK(stage_before(Method::start) == "PreStartContainer");
  CHECK(stage_after(Method::start) == "PostStartContainer");
  CHECK(stage_before(Method::update) == "PreUpdateContainerResources");
  CHECK(stage_after(Method::stop) == "PostStopContainer");
  CHECK(stage_before(Method::remove_pod).empty());
  CHECK(is_pod_stage("PreRunPodSandbox"));
  CHECK_FALSE(is_pod_stage("PreCreateContainer"));
}
