// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review_line.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace koord::kubeauth;

namespace {

const ReviewLine::MayAsk kAll = [](const std::string&) { return true; };

std::vector<std::string> questions_of(ReviewLine& line) {
  std::vector<std::string> questions;
  while (const auto place = line.take(kAll)) questions.push_back(place->question);
  return questions;
}

}  // namespace

TEST_CASE("clients take turns, and within a client its lanes do") {
  ReviewLine line({});
  for (const char* question : {"1", "2", "3"}) CHECK_FALSE(line.add({"flood", "x", question}));
  CHECK_FALSE(line.add({"flood", "y", "4"}));
  CHECK_FALSE(line.add({"agent", "z", "5"}));
  CHECK(questions_of(line) == std::vector<std::string>{"1", "5", "4", "2", "3"});
  CHECK(line.size() == 0);
  CHECK_FALSE(line.contains("flood"));
}

TEST_CASE("a client that may not ask is passed over, and keeps its turn") {
  ReviewLine line({});
  CHECK_FALSE(line.add({"a", "", "1"}));
  CHECK_FALSE(line.add({"b", "", "2"}));
  CHECK(line.take([](const std::string& client) { return client == "b"; })->question == "2");
  CHECK_FALSE(line.take([](const std::string&) { return false; }));
  CHECK(line.take_of("a")->question == "1");
  CHECK_FALSE(line.take_of("a"));
}

TEST_CASE("a client with too many questions loses the newest one of its longest lane") {
  ReviewLine line({.of_client = 3, .of_all = 100});
  for (const char* question : {"1", "2", "3"}) CHECK_FALSE(line.add({"a", "x", question}));
  CHECK(line.add({"a", "x", "4"}) == "4");
  CHECK(line.add({"a", "y", "5"}) == "3");
  CHECK(line.add({"a", "z", "6"}) == "2");
  CHECK(line.add({"a", "w", "7"}) == "7");
  CHECK(questions_of(line) == std::vector<std::string>{"1", "5", "6"});
}

TEST_CASE("a full line drops a question of the client with the most, and has a bound for any number of clients") {
  ReviewLine line({.of_client = 3, .of_all = 4});
  for (const char* question : {"1", "2", "3"}) CHECK_FALSE(line.add({"a", "", question}));
  CHECK_FALSE(line.add({"b", "", "4"}));
  CHECK(line.add({"c", "", "5"}) == "3");
  for (int client = 0; client < 100; ++client) line.add({"client-" + std::to_string(client), "", "q"});
  CHECK(line.size() == 4);
}

TEST_CASE("a question that no longer waits leaves nothing behind") {
  ReviewLine line({});
  CHECK_FALSE(line.add({"a", "x", "1"}));
  line.remove({"a", "x", "2"});
  line.remove({"a", "y", "1"});
  line.remove({"b", "x", "1"});
  CHECK(line.size() == 1);
  line.remove({"a", "x", "1"});
  CHECK(line.size() == 0);
  CHECK_FALSE(line.contains("a"));
}

TEST_CASE("each of two lines has every second turn while questions wait in both") {
  ReviewLines lines({});
  for (const char* question : {"1", "2", "3"}) CHECK_FALSE(lines.add({"a", "known", question}, true));
  for (const char* question : {"4", "5"}) CHECK_FALSE(lines.add({"a", "new", question}, false));
  CHECK(lines.size() == 5);
  std::vector<std::string> questions;
  while (const auto place = questions.size() % 2 == 0 ? lines.take(kAll) : lines.take_of("a"))
    questions.push_back(place->question);
  CHECK(questions == std::vector<std::string>{"1", "4", "2", "5", "3"});
  CHECK_FALSE(lines.contains("a"));
}

TEST_CASE("two lines have the bounds of one, and the longer one makes room") {
  ReviewLines lines({.of_client = 3, .of_all = 4});
  for (const char* question : {"1", "2", "3"}) CHECK_FALSE(lines.add({"a", "known", question}, true));
  CHECK(lines.add({"a", "new", "4"}, false) == "3");
  CHECK_FALSE(lines.add({"b", "new", "5"}, false));
  CHECK(lines.add({"c", "known", "6"}, true) == "2");
  CHECK(lines.add({"d", "new", "7"}, false) == "7");
  CHECK(lines.add({"e", "known", "8"}, true) == "8");
  CHECK(lines.size() == 4);
  lines.remove({"a", "new", "4"});
  CHECK(lines.size() == 3);
}
