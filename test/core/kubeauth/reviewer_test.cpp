// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/reviewer.hpp"

#include <optional>

#include "core/base/manual_clock.hpp"
#include "test/core/kube/cluster_client.hpp"
#include "test/support/service_account_token.hpp"

using namespace koord;
using namespace koord::kubeauth;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Token = TokenDecision::Outcome;
using Allow = AccessDecision::Outcome;

struct Reviewing : ClusterClient {
  Reviewing() {
    cluster.command("forbid_all");
    cluster.command("set_token", R"({"token":"good","username":"prometheus","groups":["monitoring"]})");
    cluster.command("set_token", R"({"token":"stale","username":"prometheus","expired":true})");
    cluster.command("set_token", R"({"token":"elsewhere","username":"prometheus","audiences":["vault"]})");
  }
  TokenDecision token(const std::string& text, const std::string& address = "10.0.0.1") {
    std::optional<TokenDecision> decision;
    reviewer.authenticate(address, text, [&](const TokenDecision& d) { decision = d; });
    REQUIRE(until([&] { return decision.has_value(); }));
    return *decision;
  }
  Allow access(const std::string& user, const std::string& path = "/metrics") {
    std::optional<AccessDecision> decision;
    reviewer.authorize({.user = user}, {.path = path}, [&](const AccessDecision& d) { decision = d; });
    REQUIRE(until([&] { return decision.has_value(); }));
    return decision->outcome;
  }

  ManualClock memory_clock;
  Reviewer reviewer{loop, memory_clock, client, {.timeout = 3s}};
};

}  // namespace

TEST_CASE("a token belongs to the user that the API server names; expired, unknown and foreign ones are refused") {
  Reviewing reviewing;
  const TokenDecision good = reviewing.token("good");
  REQUIRE_MESSAGE(good.outcome == Token::authenticated, good.message);
  CHECK(good.identity.user == "prometheus");
  CHECK(good.identity.in_group("monitoring"));
  CHECK(reviewing.token("unknown").outcome == Token::refused);
  CHECK(reviewing.token("stale").outcome == Token::refused);
  CHECK(reviewing.token("elsewhere").outcome == Token::refused);
  CHECK(reviewing.token("two words").outcome == Token::refused);
}

TEST_CASE("a decision about a token is kept for ten seconds, also a refusal") {
  Reviewing reviewing;
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  CHECK(reviewing.token("late").outcome == Token::refused);
  reviewing.cluster.command("remove_token", R"({"token":"good"})");
  reviewing.cluster.command("set_token", R"({"token":"late","username":"a"})");
  reviewing.memory_clock.advance(9s);
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  CHECK(reviewing.token("late").outcome == Token::refused);
  CHECK(reviewing.reviewer.counters().token_reviews == 2);
  reviewing.memory_clock.advance(1s);
  CHECK(reviewing.token("good").outcome == Token::refused);
  CHECK(reviewing.token("late").outcome == Token::authenticated);
}

TEST_CASE("a decision about access is kept for ten seconds, also a denial") {
  Reviewing reviewing;
  CHECK(reviewing.access("a") == Allow::denied);
  reviewing.cluster.command("allow", R"({"user":"a","verbs":["get"],"paths":["/metrics"]})");
  CHECK(reviewing.access("a") == Allow::denied);
  CHECK(reviewing.reviewer.counters().access_reviews == 1);
  reviewing.memory_clock.advance(10s);
  CHECK(reviewing.access("a") == Allow::allowed);
  CHECK(reviewing.access("a", "/other") == Allow::denied);
  CHECK(reviewing.access("b") == Allow::denied);
}

TEST_CASE("equal questions at one time are one request") {
  Reviewing reviewing;
  int answered = 0;
  for (int i = 0; i < 50; ++i) reviewing.reviewer.authenticate("a", "good", [&](const TokenDecision&) { ++answered; });
  REQUIRE(reviewing.until([&] { return answered == 50; }));
  CHECK(reviewing.reviewer.counters().token_reviews == 1);
}

TEST_CASE("without an answer no token is authenticated and nothing is allowed, and the next question is asked again") {
  Reviewing reviewing;
  reviewing.cluster.command("allow", R"({"user":"a","verbs":["get"],"paths":["/metrics"]})");
  for (const char* fault :
       {R"({"fault":"down"})", R"({"fault":"hang"})", R"({"fault":"garbage"})", R"({"fault":"deny"})",
        R"({"fault":"error","code":500})", R"({"fault":"answer","body":"{}"})"}) {
    CAPTURE(fault);
    reviewing.cluster.command("fault", fault);
    CHECK(reviewing.token("good").outcome == Token::unavailable);
    CHECK(reviewing.access("a") == Allow::unavailable);
    reviewing.cluster.clear_faults();
  }
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  CHECK(reviewing.access("a") == Allow::allowed);
}

TEST_CASE("a client with a thousand tokens causes ten reviews, and others are authenticated meanwhile") {
  Reviewing reviewing;
  CHECK(reviewing.token("good", "10.0.0.2").outcome == Token::authenticated);
  std::size_t answered = 0, limited = 0;
  for (int i = 0; i < 1000; ++i)
    reviewing.reviewer.authenticate("10.0.0.1", "flood-" + std::to_string(i), [&](const TokenDecision& decision) {
      ++answered;
      limited += decision.is_limited ? 1 : 0;
      CHECK(decision.outcome != Token::authenticated);
    });
  REQUIRE(reviewing.until([&] { return answered == 1000; }));
  CHECK(limited == 990);
  CHECK(reviewing.reviewer.counters().token_reviews == 11);
  CHECK(reviewing.reviewer.counters().limited == 990);
  // A known token from the same address, after its decision has expired, and a new token from a different address.
  reviewing.memory_clock.advance(10s);
  reviewing.cluster.command("set_token", R"({"token":"new","username":"a"})");
  for (int i = 0; i < 100; ++i)
    reviewing.reviewer.authenticate("10.0.0.1", "again-" + std::to_string(i), [](const TokenDecision&) {});
  CHECK(reviewing.token("good", "10.0.0.1").outcome == Token::authenticated);
  CHECK(reviewing.token("new", "10.0.0.3").outcome == Token::authenticated);
  CHECK(reviewing.token("another", "10.0.0.1").is_limited);
}

TEST_CASE("refused tokens of many clients leave accepted ones in memory, and have a bound together") {
  Reviewing reviewing;
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  std::size_t answered = 0;
  for (int i = 0; i < 1000; ++i)
    reviewing.reviewer.authenticate("10.1.0." + std::to_string(i), "flood-" + std::to_string(i),
                                    [&](const TokenDecision&) { ++answered; });
  REQUIRE(reviewing.until([&] { return answered == 1000; }));
  CHECK(static_cast<double>(reviewing.reviewer.counters().token_reviews) == 1 + ReviewerOptions().budget.of_all);
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  CHECK(static_cast<double>(reviewing.reviewer.counters().token_reviews) == 1 + ReviewerOptions().budget.of_all);
}

TEST_CASE("a token that is no longer accepted is limited like others") {
  Reviewing reviewing;
  CHECK(reviewing.token("good").outcome == Token::authenticated);
  reviewing.cluster.command("remove_token", R"({"token":"good"})");
  for (int i = 0; i < 20; ++i) {
    reviewing.memory_clock.advance(500ms);
    reviewing.token("flood-" + std::to_string(i));
  }
  CHECK(reviewing.token("good").outcome == Token::refused);
  reviewing.token("flood");
  reviewing.memory_clock.advance(10s);
  for (int i = 0; i < 12; ++i) reviewing.token("more-" + std::to_string(i));
  CHECK(reviewing.token("good").is_limited);
}

TEST_CASE("a user without rights causes ten reviews, and the agents of other nodes, which are the same user, get in") {
  Reviewing reviewing;
  reviewing.cluster.command("allow", R"({"user":"agent","verbs":["get"],"paths":["/own"]})");
  const auto of_node = [](const std::string& node) {
    Identity identity{.user = "agent"};
    identity.extra[std::string(kNodeNameExtra)] = {node};
    return identity;
  };
  std::size_t answered = 0, limited = 0;
  const auto ask = [&](const std::string& node, const std::string& path) {
    reviewing.reviewer.authorize(of_node(node), {.path = path}, [&](const AccessDecision& decision) {
      ++answered;
      limited += decision.is_limited ? 1 : 0;
    });
  };
  for (int i = 0; i < 100; ++i) ask("a", "/other/" + std::to_string(i));
  CHECK(limited == 90 - ReviewerOptions().line.of_client);
  ask("b", "/own");
  REQUIRE(reviewing.until([&] { return answered == 101; }));
  CHECK(limited == 90);
  CHECK(reviewing.reviewer.counters().access_reviews == 11);
}

TEST_CASE("while the API server does not answer, a flood of tokens keeps no more questions open than the bound") {
  Reviewing reviewing;
  reviewing.cluster.fault("hang");
  std::size_t answered = 0;
  for (int i = 0; i < 200; ++i)
    reviewing.reviewer.authenticate("10.1.0." + std::to_string(i), "flood-" + std::to_string(i),
                                    [&](const TokenDecision&) { ++answered; });
  CHECK(static_cast<double>(reviewing.reviewer.counters().token_reviews) == ReviewerOptions().budget.of_all);
  reviewing.cluster.clear_faults();
  REQUIRE(reviewing.until([&] { return answered == 200; }));
  reviewing.memory_clock.advance(1s);
  CHECK(reviewing.token("good").outcome == Token::authenticated);
}

TEST_CASE("fifty questions of one user at once are all answered") {
  Reviewing reviewing;
  Reviewer reviewer(reviewing.loop, reviewing.memory_clock, reviewing.client, {.line = {.of_client = 128}});
  reviewing.cluster.command("allow", R"({"user":"controller","verbs":["get"],"paths":["*"]})");
  std::size_t allowed = 0, answered = 0;
  for (int i = 0; i < 50; ++i)
    reviewer.authorize({.user = "controller"}, {.path = "/page/" + std::to_string(i)}, [&](const AccessDecision& d) {
      ++answered;
      allowed += d.outcome == Allow::allowed ? 1 : 0;
    });
  CHECK(reviewer.counters().access_reviews == 10);
  REQUIRE(reviewing.until([&] { return answered == 50; }));
  CHECK(allowed == 50);
}

namespace {

// An endless series of forged tokens from some addresses; an agent has one of these addresses.
struct Flood : Reviewing {
  static constexpr const char* kAgent = "system:serviceaccount:n:agent";

  explicit Flood(unsigned addresses, std::string claimed_user)
      : begin(clock.now()), timer(loop.every(5ms, [this, addresses, user = std::move(claimed_user)] {
          for (unsigned address = 1; address <= addresses; ++address)
            limited_by_time.authenticate("10.0.0." + std::to_string(address), forged(user),
                                         [this](const TokenDecision&) { ++answered; });
        })) {}

  std::string forged(const std::string& user) {
    ++count;
    return user.empty() ? "forged-" + std::to_string(count) : service_account_token(user, "node-1", 1000 + count);
  }
  Token outcome_of(const std::string& text) {
    std::optional<TokenDecision> decision;
    limited_by_time.authenticate("10.0.0.1", text, [&](const TokenDecision& d) { decision = d; });
    REQUIRE(until([&] { return decision.has_value(); }));
    return decision->outcome;
  }
  bool gets_in(int number, const std::string& user = kAgent) {
    const std::string text = service_account_token(user, "node-1", number);
    cluster.command("set_token", R"({"token":")" + text + R"(","username":")" + user + R"("})");
    return outcome_of(text) == Token::authenticated;
  }
  bool is_used_up() {
    return until([this] { return limited_by_time.counters().limited > 100; });
  }
  bool ends() {
    timer.reset();
    return until([this] { return answered == count; });
  }
  // Returns the maximum number of reviews that a client may cause in this time if none of its tokens is accepted.
  double most_reviews() const {
    const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
    return ReviewBudget::Limits().of_client + ReviewBudget::Limits().of_client_per_second * seconds;
  }

  Reviewer limited_by_time{loop, clock, client};
  int count = 0, answered = 0;  // numbers of the forged tokens
  const Time begin;
  std::unique_ptr<event::Timer> timer;
};

}  // namespace

TEST_CASE("an agent with a renewed token gets in during a flood of tokens from its own address") {
  for (const char* claimed : {"", "system:serviceaccount:n:other"}) {
    CAPTURE(claimed);
    Flood flood(1, claimed);
    CHECK(flood.gets_in(1));
    REQUIRE(flood.is_used_up());
    for (int number = 2; number < 5; ++number) CHECK(flood.gets_in(number));
    CHECK(flood.limited_by_time.counters().token_reviews < 100);
  }
}

TEST_CASE("an agent with a renewed token gets in while tokens of many addresses use up the bound of all") {
  Flood flood(200, "");
  CHECK(flood.gets_in(1));
  REQUIRE(flood.is_used_up());
  for (int number = 2; number < 5; ++number) CHECK(flood.gets_in(number));
}

TEST_CASE("a new agent gets in during a flood of tokens from its own address that claim another subject") {
  for (const char* claimed : {"", "system:serviceaccount:n:other"}) {
    CAPTURE(claimed);
    Flood flood(1, claimed);
    REQUIRE(flood.is_used_up());
    CHECK(flood.gets_in(1));
  }
}

TEST_CASE("a new agent gets in during a flood of tokens from its own address that claim an accepted subject") {
  Flood flood(1, "system:serviceaccount:n:other");
  REQUIRE(flood.gets_in(1, "system:serviceaccount:n:other"));
  REQUIRE(flood.is_used_up());
  CHECK(flood.gets_in(2));
}

TEST_CASE("a token that only claims the subject of an accepted one is refused like others") {
  Flood flood(1, "");
  REQUIRE(flood.gets_in(1));
  REQUIRE(flood.is_used_up());
  CHECK(flood.outcome_of(service_account_token(Flood::kAgent, "node-1", 7)) == Token::refused);
  REQUIRE(flood.ends());
  const std::uint64_t before = flood.limited_by_time.counters().token_reviews;
  CHECK(flood.outcome_of(service_account_token(Flood::kAgent, "node-1", 8)) == Token::refused);
  CHECK(flood.limited_by_time.counters().token_reviews == before + 1);
}

TEST_CASE("a flood of tokens that claim the subject of an accepted one causes no more reviews than another") {
  Flood flood(1, Flood::kAgent);
  REQUIRE(flood.gets_in(1));
  REQUIRE(flood.is_used_up());
  REQUIRE(flood.ends());
  CHECK(static_cast<double>(flood.limited_by_time.counters().token_reviews) <= 1 + flood.most_reviews());
}
