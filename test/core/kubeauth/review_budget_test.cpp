// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review_budget.hpp"

#include <doctest/doctest.h>

#include "core/kubeauth/recent_set.hpp"

using namespace koord;
using namespace koord::kubeauth;
using namespace std::chrono_literals;

namespace {

const Time kNow = from_ns(1'000'000'000'000);
using Answer = ReviewBudget::Answer;
constexpr ReviewBudget::Limits kFew{
    .of_client = 3, .of_client_per_second = 1, .of_all = 8, .of_all_per_second = 2, .clients = 4};

int taken_by(ReviewBudget& budget, const std::string& client, Time now, int wanted = 100) {
  int taken = 0;
  for (int i = 0; i < wanted; ++i) taken += budget.take(client, now) ? 1 : 0;
  return taken;
}

}  // namespace

TEST_CASE("a client without a yes has its budget, and then one question more each second") {
  ReviewBudget budget(kFew);
  CHECK(taken_by(budget, "a", kNow) == 3);
  CHECK(taken_by(budget, "a", kNow + 1s) == 1);
  CHECK(taken_by(budget, "a", kNow + 1h) == 3);
}

TEST_CASE("a question with a yes costs nothing, and never gives more than the whole budget") {
  ReviewBudget budget(kFew);
  for (int i = 0; i < 100; ++i) {
    const auto payer = budget.take("a", kNow);
    REQUIRE(payer == "a");
    budget.end(*payer, Answer::yes, kNow);
    budget.end(*payer, Answer::yes, kNow);
  }
  CHECK(budget.clients() == 0);
  CHECK(taken_by(budget, "a", kNow) == 3);
}

TEST_CASE("another client is not held up by one that has used up its budget") {
  ReviewBudget budget(kFew);
  CHECK(taken_by(budget, "a", kNow) == 3);
  CHECK(budget.take("b", kNow));
}

TEST_CASE("all clients together have a budget, which many addresses do not exceed") {
  ReviewBudget budget(kFew);
  int taken = 0;
  for (int client = 0; client < 100; ++client) taken += taken_by(budget, std::to_string(client), kNow);
  CHECK(taken == 8);
  CHECK(taken_by(budget, "a", kNow + 1s) == 2);
}

TEST_CASE("a question without an answer costs its client one, and the others nothing") {
  ReviewBudget budget(kFew);
  int taken = 0;
  for (int client = 0; client < 20; ++client)
    for (int i = 0; i < 10; ++i)
      if (const auto payer = budget.take(std::to_string(client % 3), kNow)) {
        ++taken;
        budget.end(*payer, Answer::none, kNow);
      }
  CHECK(taken == 3 * 3);
  CHECK(budget.take("b", kNow));
}

TEST_CASE("clients beyond the bound share one budget, and no memory grows with their number") {
  ReviewBudget budget(
      {.of_client = 3, .of_client_per_second = 1, .of_all = 1000, .of_all_per_second = 2, .clients = 4});
  int taken = 0;
  for (int client = 0; client < 100; ++client) taken += taken_by(budget, std::to_string(client), kNow);
  CHECK(taken == 4 * 3 + 3);
  CHECK(budget.clients() == 5);
  CHECK(taken_by(budget, "new", kNow + 10s) == 3);
  CHECK(budget.clients() == 1);
}

TEST_CASE("a text is in the set for its time at least, and for twice that at most") {
  RecentSet set(10s, 3);
  set.add("a", kNow);
  CHECK(set.contains("a", kNow + 19s));
  CHECK_FALSE(set.contains("b", kNow));
  set.add("a", kNow + 19s);
  CHECK(set.contains("a", kNow + 29s));
  CHECK_FALSE(set.contains("a", kNow + 60s));
}

TEST_CASE("a full set accepts no more texts, and a removed text is gone") {
  RecentSet set(10s, 3);
  for (int i = 0; i < 100; ++i) set.add(std::to_string(i), kNow);
  CHECK(set.size() == 3);
  set.remove("0");
  CHECK_FALSE(set.contains("0", kNow));
}
