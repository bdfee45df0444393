// SPDX-License-Identifier: Apache-2.0
// A puppet is a real plugin with functions that the test can replace. It exports control functions in addition to its
// entry function.
#pragma once

#include <cstdint>

#include "koordetector/plugin.h"

namespace koord::test {

struct PuppetCall {
  const char* name;
  const koord_host* host;
  std::uint64_t first = 0, second = 0;  // now and deadline, or what and version
  const koord_stop* stop = nullptr;
};

struct PuppetStrings {
  koord_status (*pull)(void* hand, const PuppetCall& call);
  void* hand;
};

}  // namespace koord::test

extern "C" KOORD_EXPORT koord::test::PuppetStrings* koord_test_puppet();
