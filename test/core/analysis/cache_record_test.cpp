// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_record.hpp"

#include <doctest/doctest.h>

#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

const Time kNow(1'000'000s);

SavedCpi saved(const std::string& name, Time seen = kNow) { return {name, seen, 3600, 5h, 2000.5, 1.2345678, 0.0625}; }

std::string sealed(const std::string& fields) { return sealed_record(kCpiVersion, fields); }

}  // namespace

TEST_CASE("the usual cycles per instruction read back as they were") {
  const std::vector<SavedCpi> written = {saved("shop/cart/app"), saved("shop/web/app")};
  const ReadCpi read = read_cpi(write_cpi(written));
  CHECK(read.problems.empty());
  CHECK(read.workloads == written);
}

TEST_CASE("workloads seen last stay where the room does not suffice, and names that cannot be a field are left out") {
  const std::vector<SavedCpi> both = {saved("shop/old/app", kNow - 1h), saved("shop/new/app")};
  const ReadCpi read = read_cpi(write_cpi(both, write_cpi(both).size() - 1));
  REQUIRE(read.workloads.size() == 1);
  CHECK(read.workloads[0].workload == "shop/new/app");
  CHECK(write_cpi({saved("system.slice/a b")}).empty());
}

TEST_CASE("a damaged, foreign or impossible record of cycles is named and left out, the others count") {
  const std::string good = write_cpi({saved("shop/cart/app")});
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& bad :
       {damaged, std::string("2 00000000 cpi\n"), sealed("cpu a 1 1 1 1 1 1"), sealed("cpi a 1 1 1 1 1"),
        sealed("cpi a 1 1 1 1 1 1 1"), sealed("cpi a 1 1 1 0 1 1"), sealed("cpi a 1 1 1 1 0 1"),
        sealed("cpi a 1 1 1 1 1e300 1"), sealed("cpi a 1 1 1 1e300 1 1"), sealed("cpi a 1 1 1 1 1 -1"),
        sealed("cpi a 1 1 -1 1 1 1"), sealed("cpi a 1 x 1 1 1 1"), sealed("cpi a 1 1 1 1 1 nan")}) {
    CAPTURE(bad);
    const ReadCpi read = read_cpi(bad + good);
    CHECK(read.workloads.size() == 1);
    CHECK(read.problems.size() == 1);
  }
}
