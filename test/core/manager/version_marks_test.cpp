// SPDX-License-Identifier: Apache-2.0
#include "core/manager/version_marks.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace koord;
using namespace koord::manager;
using koord::aggregated::kMostVersion;
using koord::aggregated::Version;

namespace {

constexpr std::int64_t kWall = 1'800'000'000'000'000'000;  // ns
constexpr Version kMicroseconds = kWall / 1000;
constexpr Version kBlock = VersionMarks::kBlock;

}  // namespace

TEST_CASE("the first epoch begins at the clock, and may give out one block") {
  VersionMarks marks;
  CHECK(marks.propose(0, kWall, std::nullopt) == kMicroseconds + kBlock);
  marks.stored();
  CHECK(marks.first() == kMicroseconds);
  CHECK(marks.most() == kMicroseconds + kBlock);
}

TEST_CASE("an epoch begins above the mark of the one before, also with a clock that is far behind") {
  VersionMarks marks;
  const Version used = kMicroseconds + 30'000'000;
  CHECK(marks.propose(used, kWall, std::nullopt) == used + 1 + kBlock);
  marks.stored();
  CHECK(marks.first() == used + 1);
}

TEST_CASE("a mark moves with the newest version, and never back") {
  VersionMarks marks;
  marks.propose(0, kWall, std::nullopt);
  marks.stored();
  const Version first = marks.most();
  CHECK(marks.propose(first, kWall, marks.first() + 5) == marks.first() + 5 + kBlock);
  marks.stored();
  const Version second = marks.most();
  CHECK(second > first);
  CHECK(marks.propose(second + 100, kWall, marks.first() + 5) == second + 100);
}

TEST_CASE("a mark that was proposed but not stored gives no versions, and the next epoch is above it if it was") {
  VersionMarks marks;
  const Version lost = marks.propose(0, kWall, std::nullopt);
  CHECK(marks.most() == 0);
  // The answer was lost, but the lease has the value.
  CHECK(marks.propose(lost, kWall, std::nullopt) == lost + 1 + kBlock);
  marks.stored();
  CHECK(marks.first() == lost + 1);
}

TEST_CASE("a replica that leads again begins above all of its own versions, even if the lease was deleted") {
  VersionMarks marks;
  marks.propose(0, kWall, std::nullopt);
  marks.stored();
  const Version before = marks.most();
  marks.propose(0, kWall - 1'000'000'000, std::nullopt);
  marks.stored();
  CHECK(marks.first() > before);
}

TEST_CASE("an impossible mark is ignored") {
  VersionMarks marks;
  CHECK(marks.propose(kMostVersion, kWall, std::nullopt) == kMicroseconds + kBlock);
  CHECK(marks.propose(~Version{0}, kWall, std::nullopt) == kMicroseconds + kBlock);
  CHECK(marks.propose(VersionMarks::kLast + 1, kWall, std::nullopt) == kMicroseconds + kBlock);
}

TEST_CASE("a clock after the year 2100 is ignored") {
  constexpr std::int64_t kYear2200 = 7'258'118'400'000'000'000;
  VersionMarks marks;
  CHECK(marks.propose(kMicroseconds, kYear2200, std::nullopt) == kMicroseconds + 1 + kBlock);
  marks.stored();
  CHECK(marks.first() == kMicroseconds + 1);
}

TEST_CASE("versions never go back after a mark just below the last one, whichever replica leads, and however long") {
  for (const Version below : {Version{0}, Version{1}, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock}) {
    CAPTURE(below);
    Version in_lease = VersionMarks::kLast - below, newest = in_lease;
    for (int change = 0; change < 6; ++change) {
      VersionMarks marks;  // of a leader that has just started
      in_lease = marks.propose(in_lease, kWall, std::nullopt);
      marks.stored();
      CHECK(marks.first() > newest);
      CHECK(marks.most() <= VersionMarks::kLast);
      newest = std::max(newest, marks.most());
      const Version renewed = marks.propose(in_lease, kWall, std::max(marks.first(), marks.most()));
      CHECK(renewed >= in_lease);
      CHECK(renewed <= VersionMarks::kLast);
      in_lease = renewed;
      marks.stored();
      CHECK(marks.most() >= newest);
      newest = std::max(newest, marks.most());
      CHECK(marks.is_exhausted() == (in_lease == VersionMarks::kLast));
    }
    CHECK(in_lease == VersionMarks::kLast);
  }
}

TEST_CASE("a replica that leads again at the last mark does not go back either") {
  VersionMarks marks;
  marks.propose(VersionMarks::kLast - 5, kWall, std::nullopt);
  marks.stored();
  CHECK(marks.first() == VersionMarks::kLast - 4);
  marks.ended(VersionMarks::kLast);
  marks.propose(VersionMarks::kLast, kWall, std::nullopt);
  marks.stored();
  CHECK(marks.first() == VersionMarks::kLast + 1);
  CHECK(marks.most() == VersionMarks::kLast);
}

TEST_CASE("an epoch begins above the one before also if its mark was proposed while that one ran") {
  VersionMarks marks;
  marks.propose(0, kWall, std::nullopt);
  marks.stored();
  const Version newest = marks.first() + 7;
  marks.propose(marks.most(), kWall, newest - 2);
  marks.ended(newest);
  marks.stored();
  CHECK(marks.first() == newest + 1);
  CHECK(marks.most() > marks.first());
}
