// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/posted_waits.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using koord::latency::kBuckets;
using koord::latency::own_key;
using koord::latency::PostedWaits;
using koord::latency::read_posted_waits;
using koord::latency::Waits;
using koord::latency::write_posted_waits;

namespace {

Waits some_waits(std::size_t bucket, std::uint64_t n) {
  Waits waits;
  waits.count = waits.buckets[bucket] = n;
  waits.sum_ns = n * 1000;
  waits.throttled_ns = n / 2;
  return waits;
}

PostedWaits some_post() {
  PostedWaits post;
  post.session = UINT64_MAX;
  post.number = 7;
  post.reading.cgroups = {{4321, some_waits(0, 1)}, {UINT64_MAX, some_waits(kBuckets - 1, UINT64_MAX)}};
  post.reading.ended = {{17, some_waits(12, 300)}};
  post.reading.unassigned = some_waits(3, 5);
  post.reading.lost_begins = 11;
  post.reading.missed_events = 13;
  post.reading.slots = 4095;
  post.reading.slots_used = 2;
  return post;
}

std::string problem(const std::string& text) {
  const auto read = read_posted_waits(text);
  return read ? "" : read.error().message();
}

}  // namespace

TEST_CASE("posted waits read back as they were written") {
  const PostedWaits post = some_post();
  const auto read = read_posted_waits(write_posted_waits(post));
  REQUIRE(read);
  CHECK(read->session == post.session);
  CHECK(read->number == 7);
  CHECK(read->reading.unassigned == post.reading.unassigned);
  REQUIRE(read->reading.cgroups.size() == 2);
  CHECK(read->reading.cgroups[0].cgroup == 4321);
  CHECK(read->reading.cgroups[0].total == some_waits(0, 1));
  CHECK(read->reading.cgroups[1].total == some_waits(kBuckets - 1, UINT64_MAX));
  REQUIRE(read->reading.ended.size() == 1);
  CHECK(read->reading.ended[0].total == some_waits(12, 300));
  CHECK(read->reading.lost_begins == 11);
  CHECK(read->reading.missed_events == 13);
  CHECK(read->reading.slots == 4095);
  CHECK(read->reading.slots_used == 2);
}

TEST_CASE("posted waits of 4096 busy cgroups fit into a key of the store") {
  PostedWaits post;
  Waits busy;
  for (std::uint64_t& count : busy.buckets) count = 100'000'000;
  busy.sum_ns = std::uint64_t{1} << 60;
  for (std::uint64_t i = 0; i < 4096; ++i) post.reading.cgroups.push_back({100'000 + i, busy});
  CHECK(write_posted_waits(post).size() < 600'000);
}

TEST_CASE("posted waits that are cut off or have more behind them are an error") {
  const std::string text = write_posted_waits(some_post());
  for (std::size_t n = 0; n < text.size(); ++n) CHECK_MESSAGE(!problem(text.substr(0, n)).empty(), "bytes: " << n);
  CHECK(problem(text + '\0') == "posted waits: 1 bytes too many");
}

TEST_CASE("posted waits of another version, of unknown buckets or of too many cgroups are an error") {
  CHECK(problem("\x02") == "posted waits: version 2, expected 1");
  const std::string begin = std::string("\x01", 1) + std::string(6, '\0');
  const std::string nothing(3, '\0');
  CHECK(problem(begin + nothing + std::string(2, '\0')).empty());
  CHECK(problem(begin + std::string(2, '\0') + "\x80\x80\x80\x20") == "posted waits: a bucket is unknown");
  CHECK(problem(begin + nothing + "\x80\x80\x04") == "posted waits: 65536 cgroups, expected at most 65535");
  CHECK(problem(begin + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f") == "posted waits: a number is too long");
}

TEST_CASE("a plugin names its own key without its id") { CHECK(own_key("advisor-interference/waits") == "waits"); }
