// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::host;
using config::Isolation;

namespace {

Manifest manifest_of(const std::string& id, Runtime runtime = Runtime::native) {
  Manifest manifest;
  manifest.id = id;
  manifest.runtime = runtime;
  return manifest;
}

}  // namespace

TEST_CASE("by itself, the host's own plugins live in it and those of others in a child") {
  CHECK_FALSE(*lives_in_child(manifest_of("advisor-x"), Isolation::automatic));
  CHECK(*lives_in_child(manifest_of("com.acme.x"), Isolation::automatic));
}

TEST_CASE("the configuration may say otherwise, either way") {
  CHECK(*lives_in_child(manifest_of("advisor-x"), Isolation::process));
  CHECK_FALSE(*lives_in_child(manifest_of("com.acme.x"), Isolation::in_process));
}

TEST_CASE("a runtime of its own lives in a child, whatever the name and the configuration") {
  for (Runtime runtime : {Runtime::go, Runtime::jvm, Runtime::python}) {
    CHECK(*lives_in_child(manifest_of("advisor-x", runtime), Isolation::automatic));
    Result<bool> refused = lives_in_child(manifest_of("advisor-x", runtime), Isolation::in_process);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.ends_with("needs a process of its own: wanted auto or process"));
  }
}
