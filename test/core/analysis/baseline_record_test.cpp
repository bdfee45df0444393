// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/baseline_record.hpp"
#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

const Time kNow(1'000'000s);

SavedBaseline saved(const std::string& name, Time seen = kNow) {
  return {name, seen, 3600, {{0, 12.5}, {40, 321}, {183, 0.25}}, {{"batch/etl/main", 0.0125}, {":kernel", 0.5}}};
}

std::string sealed(const std::string& fields) { return sealed_record(kBaselineVersion, fields); }

}  // namespace

TEST_CASE("baselines read back as they were") {
  const std::vector<SavedBaseline> written = {saved("shop/cart/app"), saved("shop/web/app")};
  const ReadBaselines read = read_baselines(write_baselines(written));
  CHECK(read.problems.empty());
  CHECK(read.baselines.size() == 2);
  CHECK(read.baselines[0].workload == "shop/cart/app");
  CHECK(read.baselines[0].weights == written[0].weights);
  CHECK(read.baselines[0].windows == 3600);
  CHECK(read.baselines[0].seen == kNow);
  REQUIRE(read.baselines[0].quiet.size() == 2);
  CHECK(read.baselines[0].quiet[0].second == doctest::Approx(0.0125).epsilon(0.01));
}

TEST_CASE("when the room does not suffice, workloads not seen for longest are left out") {
  const std::string both = write_baselines({saved("shop/old/app", kNow - 1h), saved("shop/new/app")});
  const ReadBaselines read =
      read_baselines(write_baselines({saved("shop/old/app", kNow - 1h), saved("shop/new/app")}, both.size() - 1));
  REQUIRE(read.baselines.size() == 1);
  CHECK(read.baselines[0].workload == "shop/new/app");
}

TEST_CASE("names that cannot be a field are left out") {
  CHECK(write_baselines({saved("system.slice/a b")}).empty());
  SavedBaseline one = saved("shop/cart/app");
  one.quiet.emplace_back("system.slice/a b", 0.1);
  CHECK(read_baselines(write_baselines({one})).baselines.at(0).quiet.size() == 2);
}

TEST_CASE("a damaged, foreign or impossible record is named and left out, the others count") {
  const std::string good = write_baselines({saved("shop/cart/app")});
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& bad :
       {damaged, std::string("2 00000000 cpu\n"), sealed("memory a 1 1 0 0"), sealed("cpu a 1 1 0"),
        sealed("cpu a 1 1 1 99999 1 0"), sealed("cpu a 1 1 1 0 1e300 0"), sealed("cpu a 1 1 1 0 -1 0"),
        sealed("cpu a 1 1 99999999999 0"), sealed("cpu a 1 1 0 9"), sealed("cpu a 1 1 0 1 b 99"),
        sealed("cpu a 1 1 0 0 more"), sealed("cpu  1 1 0 0")}) {
    CAPTURE(bad);
    const ReadBaselines read = read_baselines(bad + good);
    CHECK(read.problems.size() == 1);
    CHECK(read.baselines.size() == 1);
  }
}
