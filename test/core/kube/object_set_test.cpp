// SPDX-License-Identifier: Apache-2.0
#include "core/kube/object_set.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kube;

namespace {

KeptObjectPtr object(std::string name, std::string text = "t", std::string uid = "u", std::string version = "1") {
  return std::make_shared<const KeptObject>(
      KeptObject{std::move(name), "n", std::move(uid), std::move(version), std::move(text)});
}

std::vector<KeptObjectPtr> some(std::initializer_list<KeptObjectPtr> objects) { return objects; }

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("objects of the first list are all new") {
  ObjectSet set({});
  auto found = set.page(some({object("b"), object("a")}), true, true);
  REQUIRE(found);
  CHECK(found->changed == Names{"n/a", "n/b"});
  CHECK(found->removed.empty());
}

TEST_CASE("the pages of a list take effect together with the last page") {
  ObjectSet set({});
  CHECK(set.page(some({object("a")}), true, false)->empty());
  CHECK(set.objects().empty());
  CHECK(set.page(some({object("b")}), false, true)->changed == Names{"n/a", "n/b"});
}

TEST_CASE("a list that brings nothing new differs in nothing, though versions have moved") {
  ObjectSet set({});
  REQUIRE(set.page(some({object("a", "t", "u", "1")}), true, true));
  CHECK(set.page(some({object("a", "t", "u", "2")}), true, true)->empty());
  CHECK(set.objects().at("n/a")->resource_version == "2");
}

TEST_CASE("a list reports changed, removed and recreated objects") {
  ObjectSet set({});
  REQUIRE(set.page(some({object("changed"), object("gone"), object("remade"), object("same")}), true, true));
  auto found = set.page(some({object("changed", "t2"), object("remade", "t", "u2"), object("same")}), true, true);
  CHECK(found->changed == Names{"n/changed", "n/remade"});
  CHECK(found->removed == Names{"n/gone"});
}

TEST_CASE("a restarted list forgets the pages of the previous one") {
  ObjectSet set({});
  REQUIRE(set.page(some({object("a")}), true, false));
  CHECK(set.page(some({object("b")}), true, true)->changed == Names{"n/b"});
}

TEST_CASE("single changes are reported, and those that change nothing are not") {
  ObjectSet set({});
  CHECK(set.put(object("a"))->changed == Names{"n/a"});
  CHECK(set.put(object("a", "t", "u", "2"))->empty());
  CHECK(set.put(object("a", "t2"))->changed == Names{"n/a"});
  CHECK(set.remove("n/a").removed == Names{"n/a"});
  CHECK(set.remove("n/a").empty());
  CHECK(set.bytes() == 0);
}

TEST_CASE("more objects than the limit are refused, and what is known stays") {
  ObjectSet set({.objects = 2});
  REQUIRE(set.page(some({object("a"), object("b")}), true, true));
  CHECK_FALSE(set.page(some({object("a"), object("b"), object("c")}), true, true));
  auto refused = set.put(object("c"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().starts_with("more than 2 objects"));
  CHECK(set.objects().size() == 2);
  CHECK(set.put(object("b", "t2")));
}

TEST_CASE("more bytes than the limit are refused, and replacing makes room") {
  ObjectSet set({.bytes = 1000});
  REQUIRE(set.put(object("a", std::string(900, 'x'))));
  CHECK_FALSE(set.put(object("b", std::string(200, 'x'))));
  REQUIRE(set.put(object("a", std::string(100, 'x'))));
  CHECK(set.put(object("b", std::string(200, 'x'))));
  CHECK_FALSE(set.page(some({object("c", std::string(1000, 'x'))}), true, true));
  CHECK(set.objects().size() == 2);
}

TEST_CASE("only the requested part of each object is kept") {
  ObjectView view{"{\"long\":1}", "a", "n", "u", "1"};
  CHECK(keep(view, {})->text == "{\"long\":1}");
  CHECK(keep(view, [](const ObjectView& it) { return it.uid + "!"; })->text == "u!");
  CHECK(key_of(*keep(view, {})) == "n/a");
  view.name_space.clear();
  CHECK(key_of(*keep(view, {})) == "a");
}
