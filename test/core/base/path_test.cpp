// SPDX-License-Identifier: Apache-2.0
#include "core/base/path.hpp"

#include <doctest/doctest.h>

using koord::is_at_or_below;

TEST_CASE("a path is below a directory if a slash follows the directory's name") {
  CHECK(is_at_or_below("kubepods", "kubepods"));
  CHECK(is_at_or_below("kubepods/burstable/pod1", "kubepods"));
  CHECK_FALSE(is_at_or_below("kubepods2", "kubepods"));
  CHECK_FALSE(is_at_or_below("kubepods2/pod1", "kubepods"));
  CHECK_FALSE(is_at_or_below("kube", "kubepods"));
}

TEST_CASE("below the empty path are itself and every path that begins with a slash") {
  CHECK(is_at_or_below("", ""));
  CHECK(is_at_or_below("/run", ""));
  CHECK_FALSE(is_at_or_below("run", ""));
}
