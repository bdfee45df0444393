// SPDX-License-Identifier: Apache-2.0
#include "core/kube/object.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kube;
using Kind = WatchEvent::Kind;

namespace {

std::string error_of_list(std::string_view text, std::size_t most = 10) {
  auto page = parse_list(text, most);
  return page ? "" : page.error().message();
}

std::string error_of_event(std::string_view line) {
  auto event = parse_watch_event(line);
  return event ? "" : event.error().message();
}

}  // namespace

TEST_CASE("a list is split into its objects byte for byte") {
  auto page = parse_list(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"77","continue":"abc","remainingItemCount":3},
    "items":[{"metadata":{"name":"a","namespace":"n","uid":"u1","resourceVersion":"5","labels":{"name":"x"}},"spec":{ "cpu" : 1.50 }},
             {"metadata":{"name":"b","uid":"u2","resourceVersion":"6"}}]})",
      10);
  REQUIRE(page);
  CHECK(page->resource_version == "77");
  CHECK(page->continuation == "abc");
  REQUIRE(page->objects.size() == 2);
  const ObjectView& first = page->objects[0];
  CHECK(first.name == "a");
  CHECK(first.name_space == "n");
  CHECK(first.uid == "u1");
  CHECK(first.resource_version == "5");
  CHECK(
      first.json ==
      R"({"metadata":{"name":"a","namespace":"n","uid":"u1","resourceVersion":"5","labels":{"name":"x"}},"spec":{ "cpu" : 1.50 }})");
  CHECK(page->objects[1].name_space.empty());
}

TEST_CASE("a list without objects is written with null or with nothing in the brackets") {
  CHECK(parse_list(R"({"metadata":{"resourceVersion":"1"},"items":null})", 10)->objects.empty());
  CHECK(parse_list(R"({"metadata":{"resourceVersion":"1"},"items":[]})", 10)->objects.empty());
}

TEST_CASE("an answer that is not a list is an error, never an empty list") {
  CHECK(error_of_list(R"({"metadata":{"resourceVersion":"1"}})") == "a list without items");
  CHECK(error_of_list(R"({"items":[]})") == "a list without metadata.resourceVersion");
  CHECK(error_of_list(R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{}}]})") ==
        "an object without metadata.name");
  CHECK(error_of_list(R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},)")
            .starts_with("not the JSON"));
  CHECK(error_of_list(R"({"metadata":{"resourceVersion":"1"},"items":{}})").ends_with("expected a list"));
  CHECK(error_of_list("<html>").starts_with("not the JSON"));
}

TEST_CASE("a list of more objects than wanted is refused") {
  const char* two =
      R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})";
  CHECK(error_of_list(two, 2).empty());
  CHECK(error_of_list(two, 1).starts_with("more than 1 objects"));
}

TEST_CASE("an object of more than 4 MiB is left out of its list and named, and the others count") {
  const auto item = [](const std::string& name, const std::string& kind, std::size_t bytes) {
    const std::string begin = R"({)" + kind + R"("metadata":{"name":")" + name + R"(","namespace":"shop"},"filler":")";
    return begin + std::string(bytes - begin.size() - 2, 'x') + "\"}";
  };
  const std::string list = R"({"metadata":{"resourceVersion":"1"},"items":[)" + item("fits", "", kMaxObjectBytes) +
                           "," + item("large", "", kMaxObjectBytes + 1) + "," +
                           item("own", R"("kind":"Other",)", 2 * kMaxObjectBytes) + "," + item("small", "", 1000) +
                           R"(],"kind":"PodList"})";
  const auto page = parse_list(list, 10);
  REQUIRE(page);
  REQUIRE(page->objects.size() == 2);
  CHECK(page->objects[0].name == "fits");
  CHECK(page->objects[1].name == "small");
  REQUIRE(page->too_large.size() == 2);
  CHECK(describe(page->too_large[0]) == "Pod 'shop/large': found 4194305 bytes, expected at most 4194304, left out");
  CHECK(describe(page->too_large[1]) == "Other 'shop/own': found 8388608 bytes, expected at most 4194304, left out");
  CHECK(describe({"Node", std::string(1 << 20, 'n'), "", "", 5 << 20}).size() < 500);
}

TEST_CASE("the beginning of an event that is too long names its type and its object") {
  const auto event = parse_large_event(
      R"({"type":"MODIFIED","object":{"kind":"NodeSLO","metadata":{"name":"a","resourceVersion":"9"},"spec":{"a":"xxx)",
      5 << 20);
  REQUIRE(event);
  CHECK(event->kind == Kind::modified);
  CHECK(event->resource_version == "9");
  CHECK(describe(event->object) == "NodeSLO 'a': found 5242880 bytes, expected at most 4194304, left out");
  const auto cut = parse_large_event(
      R"({"type":"DELETED","object":{"metadata":{"annotations":{"a":"b"},"name":"a","resou)", 5 << 20);
  REQUIRE(cut);
  CHECK(cut->kind == Kind::deleted);
  CHECK(cut->object.name == "a");
  CHECK(cut->resource_version.empty());
  for (const char* head :
       {"xxxx", "", R"({"type":"MODIFIED","object":{"metadata":{"annotations":{"a":"xxx)",
        R"({"type":"ERROR","object":{"message":"xxx)", R"({"object":{"metadata":{"name":"a"},"x":"xxx)",
        R"({"type":"RENAMED","object":{"metadata":{"name":"a"},"x":"xxx)"})
    CHECK_FALSE(parse_large_event(head, 5 << 20));
}

TEST_CASE("a watch's event brings an object") {
  for (auto [type, kind] :
       {std::pair("ADDED", Kind::added), std::pair("MODIFIED", Kind::modified), std::pair("DELETED", Kind::deleted)}) {
    std::string line = std::string(R"({"type":")") + type +
                       R"(","object":{"kind":"Node","metadata":{"name":"a","resourceVersion":"9"}}})";
    auto event = parse_watch_event(line);
    REQUIRE(event);
    CHECK(event->kind == kind);
    CHECK(event->object.json == R"({"kind":"Node","metadata":{"name":"a","resourceVersion":"9"}})");
    CHECK(event->object.resource_version == "9");
  }
}

TEST_CASE("a bookmark brings a version and no name") {
  auto event = parse_watch_event(
      R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"12746","creationTimestamp":null}}})");
  REQUIRE(event);
  CHECK(event->kind == Kind::bookmark);
  CHECK(event->object.resource_version == "12746");
}

TEST_CASE("an error on a watch is reported with the server's text") {
  auto event = parse_watch_event(
      R"j({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (9)","reason":"Expired","code":410}})j");
  REQUIRE(event);
  CHECK(event->kind == Kind::error);
  CHECK(event->status.code == 410);
  CHECK(event->status.reason == "Expired");
  CHECK(event->status.message == "too old resource version: 1 (9)");
}

TEST_CASE("text that is not an event of a watch is an error") {
  CHECK(error_of_event(R"({"type":"RENAMED","object":{}})") ==
        "a watch's event of type 'RENAMED', expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR");
  CHECK(error_of_event(R"({"type":"ADDED"})") == "a watch's event of type ADDED without an object");
  CHECK(error_of_event(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})") ==
        "a watch's event of type ADDED with an object without resourceVersion");
  CHECK(error_of_event(R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}})") ==
        "a watch's event of type ADDED with an object without a name");
  CHECK(error_of_event(R"({"type":"ERROR","object":{"kind":"Pod"}})") == "an object of kind 'Pod', expected Status");
  CHECK(error_of_event("").starts_with("not the JSON"));
}

TEST_CASE("the reasons of a refusal and the wait it asks for are read") {
  auto status = parse_status(
      R"({"kind":"Status","code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":10,"causes":[{"reason":"DisruptionBudget","message":"x"}]}})");
  REQUIRE(status);
  REQUIRE(status->has_cause("DisruptionBudget"));
  CHECK(status->find_cause("DisruptionBudget")->message == "x");
  CHECK_FALSE(status->has_cause("UnexpectedServerResponse"));
  CHECK(status->retry_after == std::chrono::seconds(10));
}

TEST_CASE("an absurd wait is cut down to a day and a negative one is none") {
  CHECK(parse_status(R"({"kind":"Status","details":{"retryAfterSeconds":9223372036854775807}})")->retry_after ==
        std::chrono::hours(24));
  CHECK_FALSE(parse_status(R"({"kind":"Status","details":{"retryAfterSeconds":-1}})")->retry_after);
}
