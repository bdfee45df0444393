// SPDX-License-Identifier: Apache-2.0
#include "core/state/label_selector.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"

using namespace koord;
using namespace koord::state;

namespace {

// Returns the index of the first selector of a list that selects a node with these labels; -1: none does.
int first_of(std::string_view list, const StringMap& labels) {
  const boost::json::value selectors = read_json(list).value();
  FirstSelector first;
  for (const boost::json::value& selector : selectors.as_array()) first.add(selector.is_null() ? nullptr : &selector);
  const auto index = first.index_for(labels);
  return index ? static_cast<int>(*index) : -1;
}

}  // namespace

TEST_CASE("the first of many selectors is found in their order, by whatever they select") {
  constexpr std::string_view kSelectors = R"([
    null,
    {"matchLabels":{"pool":"a","zone":"1"}},
    {"matchLabels":{"pool":"a"}},
    {"matchExpressions":[{"key":"zone","operator":"In","values":["1","2"]}]},
    {"matchLabels":{"zone":"2"}},
    {"matchLabels":{"pool":1}},
    {"matchLabels":{"pool":"b"},"matchExpressions":[{"key":"gpu","operator":"Exists"}]},
    "no selector",
    {"matchLabels":{}},
    {}])";
  CHECK(first_of(kSelectors, {{"pool", "a"}, {"zone", "1"}}) == 1);
  CHECK(first_of(kSelectors, {{"pool", "a"}, {"zone", "2"}}) == 2);
  CHECK(first_of(kSelectors, {{"zone", "2"}}) == 3);
  CHECK(first_of(kSelectors, {{"gpu", "x"}, {"pool", "b"}}) == 6);
  CHECK(first_of(kSelectors, {{"pool", "b"}}) == 8);
  CHECK(first_of(kSelectors, {}) == 8);
  CHECK(first_of("[{}]", {}) == 0);
}

TEST_CASE("each of many selectors with a common label is found") {
  constexpr std::string_view kSelectors = R"([
    {"matchLabels":{"pool":"a","name":"n1"}},
    {"matchLabels":{"pool":"a","name":"n2"}},
    {"matchLabels":{"name":"n3","pool":"a"}},
    {"matchLabels":{"pool":"a","name":"n2"}}])";
  CHECK(first_of(kSelectors, {{"name", "n1"}, {"pool", "a"}}) == 0);
  CHECK(first_of(kSelectors, {{"name", "n2"}, {"pool", "a"}}) == 1);
  CHECK(first_of(kSelectors, {{"name", "n3"}, {"pool", "a"}}) == 2);
  CHECK(first_of(kSelectors, {{"name", "n4"}, {"pool", "a"}}) == -1);
}

TEST_CASE("no selector is found if none selects the node") {
  CHECK(first_of("[]", {{"a", "b"}}) == -1);
  CHECK(first_of(R"([null,{"matchLabels":{"a":"c"}},{"matchLabels":{"b":"b"}}])", {{"a", "b"}}) == -1);
}
