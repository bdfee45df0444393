// SPDX-License-Identifier: Apache-2.0
#include "core/manager/per_node_objects.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;
using Do = PerNodeObjects::Write::Do;
using Outcome = PerNodeObjects::Outcome;

namespace {

PerNodeObjects::Options options_of_slo() {
  PerNodeObjects::Options options;
  options.api_version = "slo.koordinator.sh/v1alpha1";
  options.kind = "NodeSLO";
  return options;
}

struct Slos : PerNodeObjects {
  Slos() : PerNodeObjects(options_of_slo(), 1) {}

  static std::string object(int version, const std::string& spec, const std::string& metadata = "") {
    return R"({"kind":"NodeSLO","metadata":{"name":"n","uid":"u","resourceVersion":")" + std::to_string(version) +
           "\"" + metadata + R"(},"spec":)" + spec + "}";
  }
  // Passes an object as the watch reports it.
  void see(int version, const std::string& spec, const std::string& metadata = "") {
    REQUIRE(observe(now, "n", object(version, spec, metadata)));
  }
  // Writes the object; the server stores it unchanged, and the watch reports it.
  bool write(int version, const std::string& spec) {
    const auto begun = next(now);
    if (!begun) return false;
    ended(now, begun->name, Outcome::done, object(version, spec));
    see(version, spec);
    return true;
  }

  Time now{1h};
};

}  // namespace

TEST_CASE("a missing object is created with the wanted spec") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  const auto write = slos.next(slos.now);
  REQUIRE(write);
  CHECK(write->what == Do::create);
  CHECK(write->object ==
        R"({"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeSLO","metadata":{"name":"n"},"spec":{"a":1}})");
  CHECK_FALSE(slos.next(slos.now));
}

TEST_CASE("an object with the wanted spec is not written, whatever the order of its members") {
  Slos slos;
  slos.see(1, R"({"b":2,"a":1})");
  REQUIRE(slos.want("n", R"({"a":1,"b":2})"));
  CHECK_FALSE(slos.next(slos.now));
}

TEST_CASE("a different spec is replaced, and the metadata is kept") {
  Slos slos;
  slos.see(5, R"({"a":2})", R"(,"labels":{"x":"y"})");
  REQUIRE(slos.want("n", R"({"a":1})"));
  const auto write = slos.next(slos.now);
  REQUIRE(write);
  CHECK(write->what == Do::replace);
  CHECK(write->object.find(R"("labels":{"x":"y"})") != write->object.npos);
  CHECK(write->object.find(R"("resourceVersion":"5")") != write->object.npos);
  CHECK(write->object.find(R"("spec":{"a":1})") != write->object.npos);
}

TEST_CASE("defaults that the server adds are not written against") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  CHECK(slos.write(1, R"({"a":1,"default":0})"));
  CHECK_FALSE(slos.next(slos.now));
  slos.see(2, R"({"a":1,"default":0})");
  CHECK_FALSE(slos.next(slos.now + 1h));
  CHECK(slos.bounds().overwrites() == 0);
  REQUIRE(slos.want("n", R"({"a":2})"));
  CHECK(slos.next(slos.now));
}

TEST_CASE("a write of another program is put back three times, then the object is left alone") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  REQUIRE(slos.write(1, R"({"a":1})"));
  int writes = 0;
  for (int version = 2; version < 100; version += 2) {
    slos.see(version, R"({"a":9})", R"(,"managedFields":[{"manager":"koordinator","time":"2026-01-01T00:00:00Z"}])");
    slos.now += 1s;
    if (slos.write(version + 1, R"({"a":1})")) ++writes;
  }
  CHECK(writes == 2);  // no third write follows
  CHECK(slos.bounds().contested(slos.now) == 1);
  CHECK(slos.bounds().last_writer() == "koordinator");
  slos.now += 10min;
  CHECK(slos.write(200, R"({"a":1})"));
}

TEST_CASE("an event from before our own write is no other program's") {
  Slos slos;
  slos.see(1, R"({"a":0})");
  REQUIRE(slos.want("n", R"({"a":1})"));
  const auto write = slos.next(slos.now);
  REQUIRE(write);
  slos.ended(slos.now, "n", Outcome::done, Slos::object(4, R"({"a":1})"));
  slos.see(3, R"({"a":0})");
  slos.see(4, R"({"a":1})");
  CHECK(slos.bounds().overwrites() == 0);
  CHECK_FALSE(slos.next(slos.now));
}

TEST_CASE("a write of another program that is seen before our own answer is not lost") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  REQUIRE(slos.next(slos.now));
  slos.see(4, R"({"a":9})");
  slos.ended(slos.now, "n", Outcome::done, Slos::object(3, R"({"a":1})"));
  CHECK(slos.bounds().overwrites() == 1);
  const auto write = slos.next(slos.now);
  REQUIRE(write);
  CHECK(write->object.find(R"("resourceVersion":"4")") != write->object.npos);
}

TEST_CASE("an object without a node is removed after the grace, with its uid") {
  Slos slos;
  slos.see(1, "{}");
  CHECK_FALSE(slos.next(slos.now));
  CHECK(slos.due() == slos.now + 1min);
  const auto write = slos.next(slos.now + 1min);
  REQUIRE(write);
  CHECK(write->what == Do::remove);
  CHECK(write->object == R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"}})");
}

TEST_CASE("a node that returns within the grace period keeps its object") {
  Slos slos;
  slos.see(1, R"({"a":1})");
  REQUIRE(slos.want("n", R"({"a":1})"));
  slos.unwant("n");
  CHECK_FALSE(slos.next(slos.now));
  REQUIRE(slos.want("n", R"({"a":1})"));
  CHECK_FALSE(slos.next(slos.now + 1h));
}

TEST_CASE("a conflict is tried again with the newer object, a failure after a growing wait") {
  Slos slos;
  slos.see(1, R"({"a":0})");
  REQUIRE(slos.want("n", R"({"a":1})"));
  REQUIRE(slos.next(slos.now));
  slos.see(2, R"({"a":0})");
  slos.ended(slos.now, "n", Outcome::changed);
  slos.now += 2s;
  const auto again = slos.next(slos.now);
  REQUIRE(again);
  CHECK(again->object.find(R"("resourceVersion":"2")") != again->object.npos);
  for (int i = 0; i < 20; ++i) {
    slos.ended(slos.now, "n", Outcome::failed);
    CHECK(slos.due() <= slos.now + 1min);
    slos.now = slos.due();
    REQUIRE(slos.next(slos.now));
  }
  CHECK(slos.counts().failed == 20);
}

TEST_CASE("five thousand nodes are written once each, and not again") {
  Slos slos;
  int writes = 0;
  for (int i = 0; i < 5000; ++i) REQUIRE(slos.want("node-" + std::to_string(i), R"({"a":1})"));
  while (const auto write = slos.next(slos.now)) {
    slos.ended(slos.now, write->name, Outcome::done, Slos::object(++writes, R"({"a":1})"));
    REQUIRE(writes <= 5000);
  }
  CHECK(writes == 5000);
  CHECK(slos.wanted() == 5000);
}

TEST_CASE("an invalid object is an error and changes nothing") {
  Slos slos;
  for (const char* text : {"", "[]", R"({"metadata":1})", R"({"metadata":{"uid":1}})"}) {
    CAPTURE(text);
    CHECK_FALSE(slos.observe(slos.now, "n", text));
  }
  CHECK_FALSE(slos.want("n", "{"));
  CHECK_FALSE(slos.next(slos.now));
}

TEST_CASE("the other replica's writes do not count as another program's after it led meanwhile") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  REQUIRE(slos.write(1, R"({"a":1})"));
  slos.forget_writes();
  slos.see(2, R"({"a":2})");
  CHECK(slos.bounds().overwrites() == 0);
}

TEST_CASE("a new leader does not leave an object alone because of what it saw before") {
  Slos slos;
  REQUIRE(slos.want("n", R"({"a":1})"));
  for (int version = 1; slos.write(version, R"({"a":1})"); version += 2) slos.see(version + 1, R"({"a":2})");
  REQUIRE(slos.bounds().contested(slos.now) == 1);
  slos.forget_writes();
  CHECK(slos.bounds().contested(slos.now) == 0);
  CHECK(slos.bounds().overwrites() == 3);
  CHECK(slos.next(slos.now));
}
