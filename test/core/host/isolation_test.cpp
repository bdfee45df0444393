// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using config::Isolation;

namespace {

Manifest manifest_of(Runtime runtime = Runtime::native) {
  Manifest manifest;
  manifest.runtime = runtime;
  return manifest;
}

}  // namespace

TEST_CASE("by itself, the host's own plugins live in it and those of others in a child") {
  CHECK_FALSE(*runs_in_child(manifest_of(), Origin::host, Isolation::automatic));
  CHECK(*runs_in_child(manifest_of(), Origin::third_party, Isolation::automatic));
}

TEST_CASE("the configuration overrides the default isolation, in both directions") {
  CHECK(*runs_in_child(manifest_of(), Origin::host, Isolation::process));
  CHECK_FALSE(*runs_in_child(manifest_of(), Origin::third_party, Isolation::in_process));
}

TEST_CASE("a plugin with a runtime of its own runs in a child, whatever its origin and the configuration") {
  for (Runtime runtime : {Runtime::go, Runtime::jvm, Runtime::python}) {
    CHECK(*runs_in_child(manifest_of(runtime), Origin::host, Isolation::automatic));
    Result<bool> refused = runs_in_child(manifest_of(runtime), Origin::host, Isolation::in_process);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.ends_with("needs a process of its own: expected auto or process"));
  }
}
