// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/descriptor_budget.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "core/base/manual_clock.hpp"
#include "core/cgroup/reader.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::cgroup;
using namespace std::chrono_literals;

namespace {

const Time kStart = from_ns(1'700'000'000'000'000'000);

std::size_t take_all(DescriptorBudget& budget, Time now, std::size_t most = 1000) {
  std::size_t taken = 0;
  while (taken < most && budget.take(now)) ++taken;
  return taken;
}

}  // namespace

TEST_CASE("a budget gives as many descriptors as its limit, and returned ones again") {
  DescriptorBudget budget(3);
  CHECK(take_all(budget, kStart) == 3);
  budget.release();
  CHECK(budget.take(kStart));
  CHECK_FALSE(budget.take(kStart));
  CHECK(budget.kept() == 3);
}

TEST_CASE("a caller that may use only a part of the budget is refused earlier") {
  DescriptorBudget budget(8);
  for (int i = 0; i < 4; ++i) CHECK(budget.take(kStart, 2));
  CHECK_FALSE(budget.take(kStart, 2));
  CHECK(budget.take(kStart));
}

TEST_CASE("a shortage removes a quarter") {
  DescriptorBudget budget(1000);
  REQUIRE(take_all(budget, kStart, 100) == 100);
  CHECK_FALSE(budget.must_return());
  budget.on_shortage(kStart);
  std::size_t returned = 0;
  for (; budget.must_return(); ++returned) budget.release();
  CHECK(returned == 25);
  CHECK_FALSE(budget.take(kStart + 59s));
}

TEST_CASE("a shortage with few kept descriptors removes at least one of them") {
  DescriptorBudget budget(1000);
  budget.on_shortage(kStart);
  CHECK_FALSE(budget.take(kStart));
  CHECK_FALSE(budget.must_return());
  DescriptorBudget one(1000);
  REQUIRE(one.take(kStart));
  one.on_shortage(kStart);
  CHECK(one.must_return());
}

TEST_CASE("a budget grows again step by step after a minute without a shortage") {
  DescriptorBudget budget(1000);
  budget.on_shortage(kStart);
  std::size_t kept = 0;
  std::vector<std::size_t> after_each_minute;
  for (int minute = 1; minute <= 5; ++minute) {
    kept += take_all(budget, kStart + minute * 1min);
    after_each_minute.push_back(kept);
  }
  CHECK(after_each_minute == std::vector<std::size_t>{64, 192, 448, 960, 1000});
}

TEST_CASE("a process out of descriptors gets a quarter of the reader's back, and no value is missed meanwhile") {
  if (test::kSanitized) {
    MESSAGE("SKIPPED: UBSan opens a pipe to check the type of an object, and reports a wrong type when it cannot");
    return;
  }
  test::FakeNode node({{"cgroup/cgroup.controllers", "pids\n"}});
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock);
  const std::vector<std::string_view> keys = {"pids"};
  std::vector<Handle> handles;
  auto open = [&](int n) {
    const std::string cgroup = "g" + std::to_string(n);
    node.write("cgroup/" + cgroup + "/pids.current", std::to_string(n));
    return reader.open(cgroup, "pids.current", keys);
  };
  for (int n = 0; n < 40; ++n) handles.push_back(*open(n));
  CHECK(reader.use().kept_files == 40);

  node.write("cgroup/g40/pids.current", "40");
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = {0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  Result<Handle> late = reader.open("g40", "pids.current", keys);
  std::vector<std::int64_t> values(1);
  std::vector<std::int64_t> read;
  for (const Handle handle : handles)
    if (reader.read(handle, values)) read.push_back(values[0]);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);

  REQUIRE(late);
  CHECK(read.size() == 40);
  CHECK(reader.use().kept_files == 30);
  REQUIRE(reader.read(*late, values));
  CHECK(values[0] == 40);
  for (int tick = 0; tick < 3; ++tick) {
    clock.advance(1min);
    for (const Handle handle : handles) CHECK(reader.read(handle, values));
  }
  CHECK(reader.use().kept_files == 40);
}
