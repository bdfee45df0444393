// SPDX-License-Identifier: Apache-2.0
#include "core/child/sample_ring.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>

using namespace koord;
using namespace koord::child;

namespace {

struct Ring {
  SampleRing host = *SampleRing::make();
  SampleRing child = *SampleRing::attach(UniqueFd(::fcntl(host.fd(), F_DUPFD_CLOEXEC, 0)));

  SampleRing::Batch popped() {
    auto batch = host.pop();
    REQUIRE(batch);
    REQUIRE(*batch);
    return **std::move(batch);
  }
  // Writes directly into the shared memory, as a hostile child may.
  void scribble(std::size_t offset, std::uint64_t value) {
    REQUIRE(::pwrite(host.fd(), &value, sizeof value, static_cast<off_t>(offset)) == sizeof value);
  }
};

std::vector<koord_point> points(std::size_t n, double first = 0) {
  std::vector<koord_point> made;
  for (std::size_t i = 0; i < n; ++i) made.push_back({i, first + static_cast<double>(i)});
  return made;
}

constexpr std::size_t kWrittenOffset = 0, kRingOffset = 192;

}  // namespace

TEST_CASE_FIXTURE(Ring, "batches are read as they were written, in order") {
  CHECK(child.push(5, points(3)));
  CHECK(child.push(6, points(0)));
  SampleRing::Batch first = popped();
  CHECK(first.t_ns == 5);
  REQUIRE(first.points.size() == 3);
  CHECK(first.points[2].value == 2);
  CHECK(popped().t_ns == 6);
  CHECK_FALSE(*host.pop());
}

TEST_CASE_FIXTURE(Ring, "a batch may wrap around the end of the ring") {
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    REQUIRE(child.push(static_cast<std::uint64_t>(round), points(777, round)));
    SampleRing::Batch batch = popped();
    REQUIRE(batch.points.size() == 777);
    CHECK(batch.points.front().value == round);
    CHECK(batch.points.back().value == round + 776);
  }
}

TEST_CASE_FIXTURE(Ring, "a full ring drops and counts batches, and continues when there is room") {
  int fitted = 0;
  while (child.push(1, points(1000))) ++fitted;
  CHECK(fitted == 16);
  CHECK_FALSE(child.push(2, points(1000)));
  CHECK(host.take_dropped() == 2);
  CHECK(host.take_dropped() == 0);
  popped();
  CHECK(child.push(3, points(1000)));
}

TEST_CASE_FIXTURE(Ring, "a batch that is too large is refused") {
  CHECK_FALSE(child.push(1, points(SampleRing::kMaxPoints + 1)));
}

TEST_CASE_FIXTURE(Ring, "a ring that makes no sense is an error") {
  SUBCASE("more than fits") { scribble(kWrittenOffset, SampleRing::kBytes + 1); }
  SUBCASE("less than a header") { scribble(kWrittenOffset, 3); }
  SUBCASE("backwards") { scribble(kWrittenOffset, ~std::uint64_t{0}); }
  SUBCASE("a batch of more points than there are") {
    child.push(1, points(2));
    scribble(kRingOffset + 8, 3);
  }
  SUBCASE("a batch of more points than can be") {
    child.push(1, points(2));
    scribble(kRingOffset + 8, ~std::uint64_t{0} / sizeof(koord_point));
  }
  CHECK_FALSE(host.pop());
}

TEST_CASE_FIXTURE(Ring, "the memory cannot be made smaller") { CHECK(::ftruncate(child.fd(), 0) != 0); }

TEST_CASE_FIXTURE(Ring, "a reader beside a writer sees every batch once") {
  constexpr std::uint64_t kBatches = 20'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kBatches;)
      if (child.push(i, points(i % 50, static_cast<double>(i)))) ++i;
  });
  for (std::uint64_t i = 0; i < kBatches;) {
    auto batch = host.pop();
    REQUIRE(batch);
    if (!*batch) continue;
    if ((*batch)->t_ns != i || (*batch)->points.size() != i % 50) {
      CHECK((*batch)->t_ns == i);
      CHECK((*batch)->points.size() == i % 50);
    }
    ++i;
  }
  writer.join();
}
