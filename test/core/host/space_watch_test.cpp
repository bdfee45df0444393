// SPDX-License-Identifier: Apache-2.0
#include "core/host/space_watch.hpp"

#include <doctest/doctest.h>

using koord::host::SpaceWatch;

namespace {

constexpr std::uint64_t kMuch = std::uint64_t{1} << 40, kFall = SpaceWatch::kNoticedFall;

}  // namespace

TEST_CASE("free space that falls by more than 16 MiB is noticed, once for each fall") {
  SpaceWatch watch;
  CHECK_FALSE(watch.has_fallen(kMuch));
  CHECK_FALSE(watch.has_fallen(kMuch - kFall));
  CHECK(watch.has_fallen(kMuch - kFall - 1));
  CHECK_FALSE(watch.has_fallen(kMuch - kFall - 1));
  CHECK_FALSE(watch.has_fallen(kMuch - 2 * kFall - 1));
  CHECK(watch.has_fallen(kMuch - 2 * kFall - 2));
}

TEST_CASE("a slow fall is noticed when its sum exceeds 16 MiB; after a rise, a fall counts from the new maximum") {
  SpaceWatch watch;
  watch.has_fallen(kMuch);
  std::uint64_t free_bytes = kMuch;
  int noticed = 0;
  for (int i = 0; i < 48; ++i) noticed += watch.has_fallen(free_bytes -= 1 << 20);
  CHECK(noticed == 2);  // after a fall of 17 and of 34 MiB
  CHECK_FALSE(watch.has_fallen(kMuch));
  CHECK(watch.has_fallen(kMuch - kFall - 1));
}

TEST_CASE("the first reading of a full file system is no decrease") {
  SpaceWatch watch;
  CHECK_FALSE(watch.has_fallen(0));
  CHECK_FALSE(watch.has_fallen(0));
}
