// SPDX-License-Identifier: Apache-2.0
#include "core/decision/decision_log.hpp"

#include <doctest/doctest.h>

using namespace koord::decision;

TEST_CASE("records are numbered, counted by outcome, and the oldest go first") {
  DecisionLog log;
  for (std::size_t i = 0; i < DecisionLog::kMostRecords + 5; ++i)
    log.add({.outcome = i % 2 == 0 ? Outcome::applied : Outcome::lost});
  CHECK(log.decisions().size() == DecisionLog::kMostRecords);
  CHECK(log.decisions().front().number == 6);
  CHECK(log.decisions().back().number == DecisionLog::kMostRecords + 5);
  CHECK(log.counts().at(Outcome::applied) == 503);
  CHECK(log.counts().at(Outcome::lost) == 502);
}

TEST_CASE("a strategy's reasons are bounded") {
  DecisionLog log;
  const std::string longer(DecisionLog::kMostText + 1, 'x');
  log.add({.reason = longer, .inputs = {{"a", "1"}, {"b", longer}, {"c", "3"}}});
  CHECK(log.decisions()[0].reason.size() == DecisionLog::kMostText);
  CHECK(log.decisions()[0].inputs.size() == 1);
}

TEST_CASE("a text that is too long is cut between two characters") {
  DecisionLog log;
  const std::string fits(DecisionLog::kMostText - 1, 'x');
  log.add({.reason = fits + "\u00e4"});
  CHECK(log.decisions()[0].reason == fits);
}
