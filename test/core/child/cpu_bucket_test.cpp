// SPDX-License-Identifier: Apache-2.0
#include "core/child/cpu_bucket.hpp"

#include <doctest/doctest.h>

using namespace koord::child;
using namespace std::chrono_literals;

namespace {

struct Bucket {
  CpuBucket::Steady::time_point now{};
  CpuBucket bucket{500, now};  // half a core
};

}  // namespace

TEST_CASE_FIXTURE(Bucket, "a second's worth of CPU time may be spent at once") {
  bucket.spend(499ms, now);
  CHECK(bucket.wait() == 0ns);
  bucket.spend(1ms, now);
  CHECK(bucket.wait() > 0ns);
}

TEST_CASE_FIXTURE(Bucket, "overspent time is waited for, and a tenth of a second's worth") {
  bucket.spend(700ms, now);
  const auto wait = bucket.wait();
  CHECK(wait >= 500ms);  // 200 ms too much and 50 ms more, at half a core
  CHECK(wait <= 501ms);
  now += 400ms;
  bucket.spend(0ns, now);
  CHECK(bucket.wait() > 0ns);
  now += 101ms;
  bucket.spend(0ns, now);
  CHECK(bucket.wait() == 0ns);
}

TEST_CASE_FIXTURE(Bucket, "a task that spends less than the limit never waits") {
  for (int i = 0; i < 1000; ++i) {
    now += 10ms;
    bucket.spend(4ms, now);
    REQUIRE(bucket.wait() == 0ns);
  }
}

TEST_CASE_FIXTURE(Bucket, "a task that spends all that is allowed is held to the limit") {
  auto spent = 0ns, waited = 0ns;
  for (int i = 0; i < 1000; ++i) {
    bucket.spend(20ms, now += 20ms);
    spent += 20ms;
    waited += bucket.wait();
    bucket.spend(0ns, now += bucket.wait());
  }
  const auto passed = std::chrono::duration<double>(now.time_since_epoch());
  CHECK(std::chrono::duration<double>(spent) / passed < 0.52);
  CHECK(std::chrono::duration<double>(spent) / passed > 0.45);
}

TEST_CASE("without a limit no task waits") {
  CpuBucket bucket(0, {});
  bucket.spend(1h, {});
  CHECK(bucket.wait() == 0ns);
}
