// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/store.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::aggregated;

namespace {

std::shared_ptr<Object> object(const std::string& name, const std::string& status = "{}", const Labels& labels = {}) {
  return Object::make({name, "uid-of-" + name}, {labels, {}, "", "{}", status}, {});
}

std::vector<std::string> names(const std::vector<Store::Change>& changes) {
  std::vector<std::string> names;
  for (const Store::Change& change : changes) names.push_back((change.is_deleted ? "-" : "") + change.object->name());
  return names;
}

constexpr Version kFirst = 1'700'000'000'000'000;

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("each write gets the next version, which stands in its text") {
  Store store(kFirst);
  const auto a = object("a"), b = object("b");
  REQUIRE(store.put(a, nullptr) == Store::Put::done);
  REQUIRE(store.put(b, nullptr) == Store::Put::done);
  CHECK(a->version() == kFirst + 1);
  CHECK(b->version() == kFirst + 2);
  CHECK(b->json().value().find(R"("resourceVersion":"1700000000000002")") != std::string::npos);
  CHECK(store.newest() == kFirst + 2);
}

TEST_CASE("a write over an object that changed meanwhile stores nothing") {
  Store store(kFirst);
  const auto first = object("a"), second = object("a", R"({"x":1})");
  store.put(first, nullptr);
  CHECK(store.put(object("a"), nullptr) == Store::Put::raced);
  CHECK(store.put(second, first) == Store::Put::done);
  CHECK(store.put(object("a"), first) == Store::Put::raced);
  CHECK(store.remove(first) == nullptr);
  CHECK(store.find("a") == second);
}

TEST_CASE("the changes contain each object once, at its newest version") {
  Store store(kFirst);
  ObjectPtr a = nullptr;
  for (int i = 0; i < 3; ++i) {
    const auto next = object("a");
    store.put(next, a);
    a = next;
    store.put(object("b" + std::to_string(i)), nullptr);
  }
  CHECK(names(*store.changes(kFirst, 100)) == Names{"b0", "b1", "a", "b2"});
  CHECK(names(*store.changes(kFirst + 4, 100)) == Names{"a", "b2"});
  CHECK(names(*store.changes(kFirst, 1)) == Names{"b0"});
}

TEST_CASE("a deleted object stays among the changes with its last state") {
  Store store(kFirst);
  const auto a = object("a", R"({"updateTime":"x"})");
  store.put(a, nullptr);
  const ObjectPtr last = store.remove(a);
  REQUIRE(last);
  CHECK(last->kept_status() == a->kept_status());
  CHECK(last->version() == kFirst + 2);
  CHECK(store.find("a") == nullptr);
  CHECK(names(*store.changes(kFirst + 1, 100)) == Names{"-a"});
  CHECK(store.counters().bytes == 0);
}

TEST_CASE("two deletions of a name are one change, older than the first creation") {
  Store store(kFirst);
  const auto first = object("a"), second = object("a");
  store.put(first, nullptr);
  store.remove(first);
  store.put(second, nullptr);
  store.remove(second);
  const auto changes = *store.changes(kFirst, 100);
  REQUIRE(names(changes) == Names{"-a"});
  CHECK(changes[0].object->created == kFirst + 1);
}

TEST_CASE("the store keeps a limited number of deletions and refuses versions before the oldest one") {
  Store store(kFirst, {.objects = 10, .deleted = 2});
  for (const char* name : {"a", "b", "c"}) {
    const auto one = object(name);
    store.put(one, nullptr);
    store.remove(one);
  }
  CHECK(store.oldest() == kFirst + 2);
  CHECK_FALSE(store.changes(kFirst + 1, 100));
  CHECK(names(*store.changes(kFirst + 2, 100)) == Names{"-b", "-c"});
}

TEST_CASE("the number of objects is bounded") {
  Store store(kFirst, {.objects = 1});
  const auto a = object("a");
  CHECK(store.put(a, nullptr) == Store::Put::done);
  CHECK(store.put(object("b"), nullptr) == Store::Put::full);
  CHECK(store.put(object("a"), a) == Store::Put::done);
}

TEST_CASE("a waiting watcher is woken by the next write and by the end, once") {
  Store store(kFirst);
  int woken = 0;
  CHECK(store.wait(kFirst, 1, [&] { ++woken; }));
  store.put(object("a"), nullptr);
  store.put(object("b"), nullptr);
  CHECK(woken == 1);
  CHECK_FALSE(store.wait(kFirst, 1, [&] { ++woken; }));
  CHECK(store.wait(store.newest(), 1, [&] { ++woken; }));
  store.forget(1);
  CHECK(store.wait(store.newest(), 2, [&] { ++woken; }));
  store.close();
  CHECK(woken == 2);
  CHECK_FALSE(store.is_serving());
  CHECK(store.put(object("c"), nullptr) == Store::Put::raced);
}

TEST_CASE("readers of a version share its text") {
  Store store(kFirst);
  const auto a = object("a");
  store.put(a, nullptr);
  const auto one = store.plain(store.find("a")).value(), other = store.plain(store.find("a")).value();
  CHECK(one.event_text == other.event_text);
  CHECK(*one.event_text == a->json().value() + "}\n");
  CHECK(one.status() == "{}");
}

TEST_CASE("the texts of the 64 newest versions are kept, and no long ones") {
  Store store(kFirst);
  const auto put = [&](const std::string& name, std::size_t bytes) {
    const auto one = object(name, std::string(bytes, ' '));
    store.put(one, nullptr);
    return one;
  };
  const auto is_kept = [&](const ObjectPtr& one) {
    const PlainObject first = store.plain(one).value(), second = store.plain(one).value();
    CHECK(*first.event_text == one->event_text().value());
    return first.event_text == second.event_text;
  };
  const ObjectPtr first = put("first", 1000), large = put("large", RecentTexts::kMostBytes);
  CHECK_FALSE(is_kept(large));
  for (std::size_t i = 2; i < RecentTexts::kObjects; ++i) put(std::to_string(i), 1000);
  CHECK(is_kept(first));
  const ObjectPtr newest = put("newest", 1000);
  CHECK_FALSE(is_kept(first));
  CHECK(is_kept(newest));
}

TEST_CASE("an epoch begins above all versions of earlier ones, also on a clock that is behind") {
  constexpr std::int64_t kNow = 1'800'000'000'000'000'000;
  CHECK(first_version(kNow, 0) == 1'800'000'000'000'000);
  CHECK(first_version(kNow, 1'800'000'000'000'500) == 1'800'000'000'000'501);
  CHECK(first_version(-5, 0) == kLeastVersion);
}

TEST_CASE("a store makes no version above its bound, and continues when the bound is raised") {
  Store store(kFirst);
  store.reserve(kFirst + 1);
  const auto a = object("a");
  REQUIRE(store.put(a, nullptr) == Store::Put::done);
  CHECK_FALSE(store.has_versions());
  CHECK(store.put(object("b"), nullptr) == Store::Put::out_of_versions);
  CHECK(store.remove(a) == nullptr);
  CHECK(store.newest() == kFirst + 1);
  store.reserve(kFirst + 3);
  CHECK(store.put(object("b"), nullptr) == Store::Put::done);
  CHECK(store.remove(a) != nullptr);
  CHECK(store.newest() == kFirst + 3);
}
