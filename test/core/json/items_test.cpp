// SPDX-License-Identifier: Apache-2.0
#include "core/json/items.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord;

namespace {

constexpr JsonWanted kPort[] = {{"number"}};
constexpr JsonWanted kThing[] = {{"name"}, {"labels"}, {"ports", kPort}};

struct Seen {
  std::vector<std::string> items;
  Result<JsonItemList> list;
};

Seen read(std::string_view text) {
  std::vector<std::string> items;
  auto list = for_each_json_item(text, kThing, [&](const JsonField& item) { items.push_back(item.json()); });
  return {std::move(items), std::move(list)};
}

std::string error_of(std::string_view text) { return read(text).list.error().message(); }

}  // namespace

TEST_CASE("only wanted members of an item are kept, at every depth") {
  Seen seen = read(R"({"kind": "ThingList", "metadata": {"a": [1, {"b": 2}]}, "items": [
    {"name": "x", "other": {"name": [1, 2]}, "labels": {"a": "b", "c": {"d": [true, null]}},
     "ports": [{"number": 1, "protocol": "TCP"}, {"protocol": {"number": 7}}, 5]},
    {}, {"other": 1, "name": null}], "after": [[]]})");
  REQUIRE(seen.list);
  CHECK(seen.list->kind == "ThingList");
  CHECK(seen.list->has_items);
  REQUIRE(seen.items.size() == 3);
  CHECK(seen.items[0] == R"({"name":"x","labels":{"a":"b","c":{"d":[true,null]}},"ports":[{"number":1},{},5]})");
  CHECK(seen.items[1] == "{}");
  CHECK(seen.items[2] == R"({"name":null})");
}

TEST_CASE("names and texts with escapes are read as what they stand for") {
  Seen seen = read(R"({"items": [{"n\u0061me": "\u00e9\n", "na\"me": "x", "labels": {"\ud83d\ude00": 1}}]})");
  CHECK(seen.items.at(0) == "{\"name\":\"\u00e9\\n\",\"labels\":{\"\U0001F600\":1}}");
}

TEST_CASE("items may be of any type, and a list may be empty or null") {
  CHECK(read(R"({"items": [1, "a", [2]]})").items == std::vector<std::string>{"1", "\"a\"", "[2]"});
  CHECK(read(R"({"items": []})").list->has_items);
  CHECK(read(R"({"items": null})").list->null_items);
  CHECK_FALSE(read("{}").list->has_items);
}

TEST_CASE("large items one after the other take no more memory than one") {
  const std::string item = R"({"name": ")" + std::string(100'000, 'x') + R"("})";
  std::string text = R"({"items": [)" + item;
  for (int i = 0; i < 50; ++i) text += "," + item;
  CHECK(read(text + "]}").items.size() == 51);
}

TEST_CASE("text that is not a list of Kubernetes is refused with the found text") {
  CHECK(error_of("[]") == "the document: expected a mapping, found a list");
  CHECK(error_of("7") == "the document: expected a mapping, found a number");
  CHECK(error_of(R"({"items": {}})") == "items: expected a list, found a mapping");
  CHECK(error_of(R"({"items": "x"})") == "items: expected a list, found text");
  CHECK(error_of(R"({"kind": []})") == "kind: expected text, found a list");
  CHECK(error_of(R"({"items": [{"name": 1,}]})").starts_with("not JSON: "));
  CHECK(error_of(R"({"items": [)").starts_with("not JSON: incomplete JSON"));
  CHECK(error_of(R"({"items": []} x)") == "not JSON: extra data at byte 14");
  CHECK(error_of(R"({"items": )" + std::string(100, '[') + std::string(100, ']') + "}").starts_with("not JSON: "));
}

TEST_CASE("a list has the same result in pieces of any size") {
  const std::string text =
      R"({"kind": "ThingList", "items": [{"name": "\u00e9\n", "other": [1, "two"], "ports": [{"number": -12.5e1}]}, {"name": "y"}]}  )";
  for (std::size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    std::vector<std::string> items;
    JsonItemReader reader(kThing, {},
                          [&](const JsonField& item, const JsonItemReader::Notes&) { items.push_back(item.json()); });
    for (std::size_t at = 0; at < text.size(); at += size)
      REQUIRE(reader.feed(std::string_view(text).substr(at, size)));
    Result<JsonItemList> list = reader.end();
    REQUIRE_MESSAGE(list, list.error().message());
    CHECK(list->kind == "ThingList");
    CHECK(items == std::vector<std::string>{R"({"name":"é\n","ports":[{"number":-1.25E2}]})", R"({"name":"y"})"});
  }
}

TEST_CASE("a reader that has failed stays so, and one that was not fed all says so") {
  JsonItemReader reader(kThing, {}, [](const JsonField&, const JsonItemReader::Notes&) {});
  REQUIRE(reader.feed(R"({"items": [)"));
  CHECK_FALSE(reader.feed("}"));
  CHECK_FALSE(reader.feed("]}"));
  CHECK_FALSE(reader.end());
  JsonItemReader other(kThing, {}, [](const JsonField&, const JsonItemReader::Notes&) {});
  REQUIRE(other.feed(R"({"items": [{"name": "x")"));
  CHECK(other.end().error().message().starts_with("not JSON: incomplete JSON"));
  JsonItemReader behind(kThing, {}, [](const JsonField&, const JsonItemReader::Notes&) {});
  REQUIRE(behind.feed(R"({"items": []} )"));
  CHECK_FALSE(behind.feed("x"));
}
