// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/selector.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::aggregated;

namespace {

bool selects(std::string_view selector, const Labels& labels) {
  const auto parsed = Selector::parse(selector, "");
  REQUIRE(parsed);
  return parsed->matches(labels);
}

bool selects_name(std::string_view selector, std::string_view name) {
  const auto parsed = Selector::parse("", selector);
  REQUIRE(parsed);
  return parsed->matches_name(name);
}

const Labels kLabels = {{"pool", "gold"}, {"kubernetes.io/arch", "amd64"}, {"generation", "7"}, {"in", "x"}};

}  // namespace

TEST_CASE("a label selector compares as kubectl's -l") {
  CHECK(selects("", kLabels));
  CHECK(selects("pool=gold", kLabels));
  CHECK(selects("pool==gold,kubernetes.io/arch=amd64", kLabels));
  CHECK_FALSE(selects("pool=gold,kubernetes.io/arch=arm64", kLabels));
  CHECK(selects("pool!=silver", kLabels));
  CHECK(selects("absent!=silver", kLabels));
  CHECK(selects("pool in (gold, silver)", kLabels));
  CHECK_FALSE(selects("pool notin (gold,silver)", kLabels));
  CHECK(selects("absent notin (a)", kLabels));
  CHECK(selects("pool", kLabels));
  CHECK(selects("!absent", kLabels));
  CHECK_FALSE(selects("!pool", kLabels));
  CHECK(selects("generation>6,generation<8", kLabels));
  CHECK_FALSE(selects("pool>6", kLabels));
  CHECK(selects("in=x", kLabels));
  CHECK(selects("pool=", {{"pool", ""}}));
}

TEST_CASE("a label selector that is wrong is refused") {
  for (const char* wrong : {"=a", "a=b,", "a in b", "a in (b", "a b", "a>x", "!", "a=b;c", "(a)"}) {
    CAPTURE(wrong);
    CHECK_FALSE(Selector::parse(wrong, ""));
  }
}

TEST_CASE("a field selector selects by the name alone") {
  CHECK(selects_name("metadata.name=a", "a"));
  CHECK_FALSE(selects_name("metadata.name==a", "b"));
  CHECK(selects_name("metadata.name!=a", "b"));
  CHECK_FALSE(selects_name("metadata.name=a,metadata.name=b", "a"));
  CHECK_FALSE(Selector::parse("", "spec.x=1"));
  CHECK_FALSE(Selector::parse("", "metadata.name"));
  CHECK(Selector::parse("", "metadata.name=a")->name() == "a");
}
