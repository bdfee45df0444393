// SPDX-License-Identifier: Apache-2.0
#include "core/kube/update.hpp"

#include "cluster_client.hpp"
#include "core/json/scanner.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using Outcome = Written::Outcome;

namespace {

const std::string kMetrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";

std::string metric(const std::string& name) {
  return R"({"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":")" + name +
         R"("},"spec":{}})";
}

std::string status(const std::string& time) { return R"({"updateTime":")" + time + R"("})"; }

struct Writer : ClusterClient {
  Result<Written> write(Update what) {
    std::optional<Result<Written>> written;
    const auto pending = update(loop, client, std::move(what), [&](Result<Written> w) { written = std::move(w); });
    CHECK_FALSE(written);
    REQUIRE(until([&] { return written.has_value(); }));
    return *std::move(written);
  }
  // Makes an update that sets the status to the time, and counts how often it is called.
  Update set_status(const std::string& name, const std::string& time) {
    Update what;
    what.collection = kMetrics;
    what.name = name;
    what.change = [this, time](std::string_view newest) -> Result<std::optional<std::string>> {
      ++asked;
      auto now = json_member(newest, "status");
      if (now && *now && **now == status(time)) return std::optional<std::string>();
      std::string changed = TRY(with_json_member(newest, "status", status(time)));
      return std::optional(std::move(changed));
    };
    return what;
  }
  std::string time_of(const std::string& name) {
    auto object = cluster.get("NodeMetric", name);
    REQUIRE(object);
    return std::string(json_member(*object, "status")->value_or("none"));
  }

  int asked = 0;
};

}  // namespace

TEST_CASE("a status is written, and the server's new object is returned") {
  Writer writer;
  writer.cluster.put(metric("a"));
  auto written = writer.write(writer.set_status("a", "2026-01-01T00:00:00Z"));
  REQUIRE(written);
  CHECK(written->outcome == Outcome::updated);
  CHECK(written->conflicts == 0);
  CHECK(written->object.find("2026-01-01T00:00:00Z") != std::string::npos);
  CHECK(writer.time_of("a").find("2026-01-01T00:00:00Z") != std::string::npos);
  CHECK(writer.cluster.requests(R"({"verb":"update","kind":"NodeMetric","name":"a","subresource":"status"})").size() ==
        1);
}

TEST_CASE("an unchanged object is not written") {
  Writer writer;
  writer.cluster.put(metric("b"));
  REQUIRE(writer.write(writer.set_status("b", "2026-01-01T00:00:00Z")));
  auto again = writer.write(writer.set_status("b", "2026-01-01T00:00:00Z"));
  REQUIRE(again);
  CHECK(again->outcome == Outcome::unchanged);
  CHECK(writer.cluster.requests(R"({"verb":"update","kind":"NodeMetric","name":"b"})").size() == 1);
}

TEST_CASE("an object that is known is not asked for") {
  Writer writer;
  Update what = writer.set_status("c", "2026-01-01T00:00:00Z");
  what.known = writer.cluster.put(metric("c"));
  CHECK(writer.write(what)->outcome == Outcome::updated);
  CHECK(writer.cluster.requests(R"({"verb":"get","kind":"NodeMetric","name":"c"})").empty());
}

TEST_CASE("after a conflict the other writer's object is changed instead") {
  Writer writer;
  Update what = writer.set_status("d", "2026-01-01T00:00:00Z");
  what.known = writer.cluster.put(metric("d"));
  writer.cluster.put(R"({"kind":"NodeMetric","metadata":{"name":"d","labels":{"theirs":"stays"}},"spec":{}})");
  auto written = writer.write(what);
  REQUIRE(written);
  CHECK(written->outcome == Outcome::updated);
  CHECK(written->conflicts == 1);
  CHECK(writer.asked == 2);
  CHECK(written->object.find("stays") != std::string::npos);
}

TEST_CASE("a writer that is always faster ends the update after the attempts allowed") {
  Writer writer;
  writer.cluster.put(metric("e"));
  writer.cluster.fault("conflict", R"({"kind":"NodeMetric"})");
  Update what = writer.set_status("e", "2026-01-01T00:00:00Z");
  what.attempts = 3;
  auto written = writer.write(what);
  REQUIRE(written);
  CHECK(written->outcome == Outcome::refused);
  CHECK(written->refusal.code == 409);
  CHECK(written->conflicts == 3);
  CHECK(writer.asked == 3);
}

TEST_CASE("an object that is missing is created with its status when that is wanted, else it is absent") {
  Writer writer;
  Update what = writer.set_status("new", "2026-01-01T00:00:00Z");
  CHECK(writer.write(what)->outcome == Outcome::absent);
  CHECK_FALSE(writer.cluster.get("NodeMetric", "new"));
  what.missing = metric("new");
  auto written = writer.write(what);
  REQUIRE(written);
  CHECK(written->outcome == Outcome::created);
  CHECK(writer.time_of("new").find("2026-01-01T00:00:00Z") != std::string::npos);
}

TEST_CASE("an object that was removed since it was known is created again") {
  Writer writer;
  Update what = writer.set_status("removed", "2026-01-01T00:00:00Z");
  what.known = writer.cluster.put(metric("removed"));
  what.missing = metric("removed");
  writer.cluster.remove("NodeMetric", "removed");
  CHECK(writer.write(what)->outcome == Outcome::created);
  CHECK(writer.cluster.get("NodeMetric", "removed"));
}

TEST_CASE("a refusal is reported with the wait that the server asks for") {
  Writer writer;
  writer.cluster.put(metric("f"));
  writer.cluster.fault("too_many_requests", R"({"verb":"update","kind":"NodeMetric","retry_after":7})");
  auto written = writer.write(writer.set_status("f", "2026-01-01T00:00:00Z"));
  REQUIRE(written);
  CHECK(written->outcome == Outcome::refused);
  CHECK(written->refusal.code == 429);
  CHECK(written->refusal.retry_after == std::chrono::seconds(7));
  writer.cluster.clear_faults();
  writer.cluster.fault("deny", R"({"kind":"NodeMetric"})");
  CHECK(writer.write(writer.set_status("f", "2026-01-01T00:00:00Z"))->refusal.code == 403);
}

TEST_CASE("no answer is an error, and so is a change that cannot be made") {
  Writer writer;
  writer.cluster.put(metric("g"));
  Update broken = writer.set_status("g", "x");
  broken.change = [](std::string_view) -> Result<std::optional<std::string>> { return invalid("not like this"); };
  CHECK(writer.write(broken).error().message() == "not like this");
  writer.cluster.fault("down");
  CHECK_FALSE(writer.write(writer.set_status("g", "2026-01-01T00:00:00Z")));
}

TEST_CASE("a patch changes only the fields that it names") {
  Writer writer;
  writer.cluster.put(
      R"({"kind":"ConfigMap","metadata":{"name":"p","namespace":"shop","labels":{"a":"1"}},"data":{"x":"1"}})");
  const std::string maps = "/api/v1/namespaces/shop/configmaps";
  for (const Call& call : {merge_patch_call(maps, "p", R"({"data":{"y":"2"}})"),
                           strategic_merge_patch_call(maps, "p", R"({"metadata":{"labels":{"b":"2"}}})")}) {
    std::optional<Result<Reply>> reply;
    const auto pending = writer.client.send(call, [&](Result<Reply> r) { reply = std::move(r); });
    REQUIRE(writer.until([&] { return reply.has_value(); }));
    REQUIRE(*reply);
    CHECK((*reply)->status == 200);
  }
  const std::string object = *writer.cluster.get("ConfigMap", "p", "shop");
  CHECK(json_member(object, "data")->value() == R"({"x": "1", "y": "2"})");
  CHECK(object.find(R"("labels": {"a": "1", "b": "2"})") != std::string::npos);
}

TEST_CASE("a cancelled update makes no call") {
  Writer writer;
  writer.cluster.put(metric("h"));
  bool called = false;
  auto pending = update(writer.loop, writer.client, writer.set_status("h", "2026-01-01T00:00:00Z"),
                        [&](const Result<Written>&) { called = true; });
  pending.reset();
  REQUIRE(writer.write(writer.set_status("h", "2026-01-02T00:00:00Z")));
  CHECK_FALSE(called);
}
