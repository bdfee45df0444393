// SPDX-License-Identifier: Apache-2.0
// Reads and writes of the resource, with requests as kubectl, informers and agents send them.
#include "core/aggregated/api.hpp"

#include <doctest/doctest.h>

#include "api_fixture.hpp"
#include "core/http/gzip.hpp"

using namespace koord;
using namespace koord::test;
using http::Method;

namespace {

std::string reason(const http::Response& response) { return text_at(json_of(response.body), "reason"); }

std::string version_of(const http::Response& response) {
  return text_at(json_of(response.body), "metadata.resourceVersion");
}

std::string names_of(const boost::json::value& list) {
  std::string names;
  for (const auto& item : json_list(list, "items")) names += text_at(item, "metadata.name") + " ";
  return names;
}

}  // namespace

TEST_CASE("the first report of a node creates its object, later ones replace its status") {
  ApiFixture f;
  CHECK(f.report("a", usage_status(100)).status == 201);
  const auto first = f.get_json("/a");
  CHECK(text_at(first, "kind") == "NodeMetric");
  CHECK(text_at(first, "apiVersion") == "metrics.koordetector.sh/v1alpha1");
  CHECK(text_at(first, "metadata.creationTimestamp") == "2023-11-14T22:13:20Z");
  CHECK(f.report("a", usage_status(250)).status == 200);
  const auto second = f.get_json("/a");
  CHECK(text_at(second, "status.nodeMetric.nodeUsage.resources.cpu") == "250m");
  CHECK(text_at(second, "metadata.uid") == text_at(first, "metadata.uid"));
  CHECK(text_at(second, "metadata.resourceVersion") > text_at(first, "metadata.resourceVersion"));
  CHECK(text_at(second, "metadata.generation") == "1");
  CHECK(f.api.counters().reports == 2);
}

TEST_CASE("the uid of a node's object is the same in the next epoch") {
  ApiFixture one, other;
  one.report("a", "{}");
  other.report("a", "{}");
  CHECK(text_at(one.get_json("/a"), "metadata.uid") == text_at(other.get_json("/a"), "metadata.uid"));
  one.send(Method::remove, "/a");
  one.report("a", "{}");
  CHECK(text_at(one.get_json("/a"), "metadata.uid") != text_at(other.get_json("/a"), "metadata.uid"));
}

TEST_CASE("create takes spec and labels and leaves the status out") {
  ApiFixture f;
  const std::string body = node_metric("a", usage_status(1), R"({"metricCollectPolicy":{"reportIntervalSeconds":60}})",
                                       R"("labels":{"pool":"gold"})");
  CHECK(f.send(Method::post, "", body).status == 201);
  const auto object = f.get_json("/a");
  CHECK(text_at(object, "spec.metricCollectPolicy.reportIntervalSeconds") == "60");
  CHECK(text_at(object, "metadata.labels.pool") == "gold");
  CHECK(at(object, "status").is_null());
  const auto again = f.send(Method::post, "", body);
  CHECK(again.status == 409);
  CHECK(reason(again) == "AlreadyExists");
}

TEST_CASE("an update of the object leaves the status, an update of the status leaves the rest") {
  ApiFixture f;
  f.report("a", usage_status(100));
  f.send(Method::put, "/a",
         node_metric("a", usage_status(9), R"({"metricCollectPolicy":{"aggregateDurationSeconds":300}})",
                     R"("labels":{"pool":"gold"},"annotations":{"why":"\"x\""})"));
  auto object = f.get_json("/a");
  CHECK(text_at(object, "status.nodeMetric.nodeUsage.resources.cpu") == "100m");
  CHECK(text_at(object, "metadata.generation") == "2");
  f.report("a", usage_status(200));
  object = f.get_json("/a");
  CHECK(text_at(object, "status.nodeMetric.nodeUsage.resources.cpu") == "200m");
  CHECK(text_at(object, "spec.metricCollectPolicy.aggregateDurationSeconds") == "300");
  CHECK(text_at(object, "metadata.labels.pool") == "gold");
  CHECK(text_at(object, "metadata.annotations.why") == "\"x\"");
  CHECK(text_at(object, "metadata.generation") == "2");
}

TEST_CASE("an update with an old version is a conflict, one without a version is not") {
  ApiFixture f;
  const std::string old = version_of(f.report("a", usage_status(1)));
  f.report("a", usage_status(2));
  const auto refused =
      f.send(Method::put, "/a/status", node_metric("a", usage_status(3), "{}", "\"resourceVersion\":\"" + old + "\""));
  CHECK(refused.status == 409);
  CHECK(reason(refused) == "Conflict");
  CHECK(f.api.counters().conflicts == 1);
  CHECK(f.report("a", usage_status(3)).status == 200);
}

TEST_CASE("an update of what is missing creates it only if it is a report without a version") {
  ApiFixture f;
  CHECK(reason(f.send(Method::put, "/a", node_metric("a", "{}"))) == "NotFound");
  CHECK(reason(f.send(Method::put, "/a/status", node_metric("a", "{}", "{}", R"("resourceVersion":"7")"))) ==
        "NotFound");
  CHECK(f.send(Method::put, "/A_/status", node_metric("A_", "{}")).status == 404);
}

TEST_CASE("an update without a change makes no new version") {
  ApiFixture f;
  const std::string version = version_of(f.report("a", usage_status(1)));
  CHECK(version_of(f.report("a", usage_status(1))) == version);
}

TEST_CASE("fields outside of the schema are dropped, and values of a wrong type are refused with their path") {
  ApiFixture f;
  f.report("a", R"({"secret":1,"podsMetric":[{"name":"p","namespace":"n","pressure":{"ioStallSeconds":0.5},"x":1}]})");
  const auto object = f.get_json("/a");
  CHECK(at(object, "status.secret").is_null());
  const auto& pod = json_list(at(object, "status"), "podsMetric")[0];
  CHECK(at(pod, "x").is_null());
  CHECK(at(pod, "pressure.ioStallSeconds").as_double() == 0.5);
  const auto refused =
      f.report("a", R"({"podsMetric":[{"name":"p"},{"name":1,"podUsage":{"resources":{"cpu":"lots"}}}]})");
  CHECK(refused.status == 422);
  const auto answer = json_of(refused.body);
  const auto& causes = json_list(at(answer, "details"), "causes");
  REQUIRE(causes.size() == 2);
  CHECK(text_at(causes[0], "field") == "status.podsMetric[1].name");
  CHECK(text_at(causes[1], "field") == "status.podsMetric[1].podUsage.resources.cpu");
  CHECK(f.api.counters().invalid == 1);
}

TEST_CASE("labels and annotations that Kubernetes refuses are refused with 422 and their rule") {
  ApiFixture f;
  const auto refused_field = [&](const std::string& metadata) {
    const auto refused = f.send(Method::post, "", node_metric("a", "{}", "{}", metadata));
    CHECK(refused.status == 422);
    const auto answer = json_of(refused.body);
    const auto& causes = json_list(at(answer, "details"), "causes");
    REQUIRE(causes.size() == 1);
    CHECK(text_at(causes[0], "message").find("must be at most 63 of A-Z") != std::string::npos);
    CHECK(text_at(causes[0], "message").find('\x1b') == std::string::npos);
    return text_at(causes[0], "field");
  };
  CHECK(refused_field(R"("labels":{"pool":"\u001b[31mgold"})") == "metadata.labels");
  CHECK(refused_field(R"("labels":{"pool":"\u009b"})") == "metadata.labels");
  CHECK(refused_field(R"("labels":{"pool":"a b"})") == "metadata.labels");
  CHECK(refused_field(R"("labels":{"po ol":"gold"})") == "metadata.labels");
  CHECK(refused_field(R"("annotations":{"po\u001bol":"gold"})") == "metadata.annotations");
  CHECK(f.send(Method::post, "", node_metric("a", "{}", "{}", R"("labels":{"a.b/c":"","d":"E_f.9"})")).status == 201);
}

TEST_CASE("a merge patch changes metadata and spec, one of the status changes the status") {
  ApiFixture f;
  f.report("a", usage_status(1));
  const http::Headers merge = {{"Content-Type", "application/merge-patch+json"}};
  CHECK(f.send(Method::patch, "/a", R"({"metadata":{"labels":{"pool":"gold"}},"status":null})", merge).status == 200);
  CHECK(f.send(Method::patch, "/a/status", R"({"status":{"updateTime":"2030-01-01T00:00:00Z"}})", merge).status == 200);
  const auto object = f.get_json("/a");
  CHECK(text_at(object, "metadata.labels.pool") == "gold");
  CHECK(text_at(object, "status.updateTime") == "2030-01-01T00:00:00Z");
  CHECK(text_at(object, "status.nodeMetric.nodeUsage.resources.cpu") == "1m");
  CHECK(f.send(Method::patch, "/a", R"({"metadata":{"name":"b"}})", merge).status == 400);
  CHECK(f.send(Method::patch, "/b", "{}", merge).status == 404);
}

TEST_CASE("a JSON patch is applied, other kinds of patches are refused with 415") {
  ApiFixture f;
  f.report("a", usage_status(1));
  const auto patch = [&](const char* type, const char* text) {
    return f.send(Method::patch, "/a", text, {{"Content-Type", type}});
  };
  CHECK(patch("application/json-patch+json", R"([{"op":"add","path":"/metadata/labels","value":{"x":"y"}}])").status ==
        200);
  CHECK(patch("application/json-patch+json", R"([{"op":"remove","path":"/nothing"}])").status == 422);
  std::string many = R"([{"op":"test","path":"/kind","value":"NodeMetric"})";
  for (int i = 0; i < 10'000; ++i) many += R"(,{"op":"test","path":"/kind","value":"NodeMetric"})";
  const http::Response refused = patch("application/json-patch+json", (many + "]").c_str());
  CHECK(refused.status == 413);
  CHECK(text_at(json_of(refused.body), "reason") == "RequestEntityTooLarge");
  CHECK(text_at(json_of(refused.body), "message") == "a JSON patch may have at most 10000 operations, found 10001");
  CHECK(patch("application/strategic-merge-patch+json", "{}").status == 415);
  CHECK(patch("application/apply-patch+yaml", "{}").status == 415);
}

TEST_CASE("delete ends an object, with its preconditions") {
  ApiFixture f;
  f.report("a", "{}");
  CHECK(f.send(Method::remove, "/a", R"({"preconditions":{"uid":"other"}})").status == 409);
  CHECK(f.send(Method::remove, "/a?dryRun=All").status == 200);
  const auto answer = f.send(Method::remove, "/a", R"({"propagationPolicy":"Background"})");
  CHECK(text_at(json_of(answer.body), "status") == "Success");
  CHECK(f.get("/a").status == 404);
  CHECK(f.send(Method::remove, "").status == 405);
}

TEST_CASE("a dry run stores nothing") {
  ApiFixture f;
  CHECK(f.send(Method::post, "?dryRun=All", node_metric("a", "{}")).status == 201);
  CHECK(f.get("/a").status == 404);
  CHECK(f.send(Method::post, "?dryRun=Some", node_metric("a", "{}")).status == 400);
}

TEST_CASE("a body may be gzipped, and unpacks to a bounded size") {
  ApiFixture f;
  const auto packed = http::gzip(node_metric("a", usage_status(1))).value();
  const http::Headers gzip = {{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}};
  CHECK(f.send(Method::put, "/a/status", packed, gzip).status == 201);
  CHECK(f.send(Method::put, "/a/status", http::gzip(std::string(8 << 20, ' ')).value(), gzip).status == 400);
  CHECK(f.send(Method::put, "/a/status", "x", {{"Content-Encoding", "br"}}).status == 415);
  CHECK(f.send(Method::put, "/a/status", "x", {{"Content-Type", "application/vnd.kubernetes.protobuf"}}).status == 415);
}

TEST_CASE("a report that requests no object gets a short answer") {
  ApiFixture f;
  const auto answer =
      f.send(Method::put, "/a/status", node_metric("a", usage_status(1)), {{"Prefer", "return=minimal"}});
  CHECK(answer.status == 201);
  CHECK(text_at(json_of(answer.body), "kind") == "Status");
}

TEST_CASE("a list has the version of the store, and selects") {
  ApiFixture f;
  for (const char* name : {"c", "a", "b"}) f.report(name, "{}");
  const auto list = f.get_json("");
  CHECK(text_at(list, "kind") == "NodeMetricList");
  CHECK(text_at(list, "metadata.resourceVersion") == std::to_string(kEpoch + 3));
  CHECK(names_of(list) == "a b c ");
  CHECK(names_of(f.get_json("?fieldSelector=metadata.name%3Db")) == "b ");
  CHECK(names_of(f.get_json("?labelSelector=x%3Dy")).empty());
  CHECK(f.get("?fieldSelector=spec.x%3Db").status == 400);
  CHECK(names_of(f.get_json("?resourceVersion=0")) == "a b c ");
}

TEST_CASE("a list in pages has all objects once and one version") {
  ApiFixture f;
  for (int i = 0; i < 40; ++i) f.report("node-" + std::to_string(10 + i), "{}");
  std::string target = "?limit=16", names;
  int pages = 0;
  for (std::string next = "-"; !next.empty(); ++pages) {
    const auto page = f.get_json(target);
    CHECK(text_at(page, "metadata.resourceVersion") == std::to_string(kEpoch + 40));
    names += names_of(page);
    next = json_text(at(page, "metadata"), "continue");
    target = "?limit=16&continue=" + next;
    f.report("node-10", usage_status(pages));
  }
  CHECK(pages == 3);
  std::string all;
  for (int i = 0; i < 40; ++i) all += "node-" + std::to_string(10 + i) + " ";
  CHECK(names == all);
  CHECK(f.get("?continue=rubbish").status == 400);
  CHECK(reason(f.get("?continue=5:node-1")) == "Expired");
}

TEST_CASE("a version that is too new is refused, and so is an exact version that is not the newest") {
  ApiFixture f;
  f.report("a", "{}");
  const std::string later = std::to_string(kEpoch + 9), before = std::to_string(kEpoch);
  const auto refused = f.get("?resourceVersion=" + later);
  CHECK(refused.status == 504);
  const auto answer = json_of(refused.body);
  CHECK(text_at(json_list(at(answer, "details"), "causes")[0], "reason") == "ResourceVersionTooLarge");
  CHECK(f.get("?resourceVersionMatch=Exact&resourceVersion=" + before).status == 410);
  CHECK(f.get("?resourceVersionMatch=NotOlderThan&resourceVersion=" + before).status == 200);
  CHECK(f.get("?sendInitialEvents=true").status == 422);
  CHECK(f.get("?resourceVersion=x").status == 400);
}

TEST_CASE("reads are refused until the reports are there, and at the end") {
  ManualClock clock;
  aggregated::Store store{kEpoch};
  ApiFixture f;
  aggregated::Api api(store, clock);
  http::Request list;
  list.path = kNodeMetrics;
  CHECK(api.answer(list, {}).status == 503);
  http::Request put;
  put.method = Method::put;
  put.path = std::string(kNodeMetrics) + "/a/status";
  put.body = node_metric("a", "{}");
  CHECK(api.answer(put, {}).status == 201);
  store.begin_serving();
  CHECK(api.answer(list, {}).status == 200);
  store.close();
  CHECK(api.answer(list, {}).status == 503);
  CHECK(api.answer(put, {}).status == 503);
}

TEST_CASE("a table has kubectl's columns, and only metadata has no status") {
  ApiFixture f;
  f.report("a", usage_status(1500));
  f.clock.advance(std::chrono::seconds(90));
  const http::Headers table = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};
  for (const char* target : {"", "/a"}) {
    const auto answer = f.get_json(target, table);
    CHECK(text_at(answer, "kind") == "Table");
    CHECK(json_list(answer, "columnDefinitions").size() == 5);
    const auto& cells = json_list(json_list(answer, "rows")[0], "cells");
    CHECK(boost::json::serialize(cells) == R"(["a","1500m","1Gi","0s","90s"])");
  }
  const http::Headers metadata = {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}};
  const auto list = f.get_json("", metadata);
  CHECK(text_at(list, "kind") == "PartialObjectMetadataList");
  CHECK(at(json_list(list, "items")[0], "status").is_null());
  CHECK(names_of(list) == "a ");
  CHECK(f.get("", {{"Accept", "application/vnd.kubernetes.protobuf"}}).status == 406);
}

TEST_CASE("paths and methods that do not exist are answered with a Status") {
  ApiFixture f;
  CHECK(f.get("/a/scale").status == 404);
  CHECK(f.get("/a/status/x").status == 404);
  CHECK(f.send(Method::post, "/a", "{}").status == 405);
  CHECK(f.send(Method::remove, "/a/status").status == 405);
  CHECK(f.send(Method::put, "/a/status", "not JSON").status == 400);
  CHECK(f.send(Method::put, "/a/status", "[]").status == 400);
  CHECK(f.send(Method::put, "/a/status", R"({"kind":"Pod"})").status == 400);
  CHECK(text_at(json_of(f.get("/apis/other").body), "kind") == "Status");
}

TEST_CASE("writes are refused for a second while no version may be given out, and stored reports are passed on") {
  ManualClock clock;
  aggregated::Store store{kEpoch};
  std::vector<std::string> passed;
  aggregated::Api api(store, clock, nullptr, {.on_report = [&](const aggregated::PlainObject& report) {
                        passed.push_back(report.object->name());
                      }});
  const auto report = [&] {
    http::Request request;
    request.method = http::Method::put;
    request.path = std::string(kNodeMetrics) + "/a/status";
    request.body = node_metric("a", usage_status(static_cast<int>(passed.size()) + 1));
    return api.answer(request, {.user = "system:node:a"});
  };
  CHECK(report().status == 201);
  store.reserve(store.newest());
  const http::Response refused = report();
  CHECK(refused.status == 503);
  CHECK(refused.headers == http::Headers{{"Retry-After", "1"}});
  store.reserve(kEpoch + 100);
  CHECK(report().status == 200);
  CHECK(passed == std::vector<std::string>{"a", "a"});
}

TEST_CASE("each status that a client writes is completed by the server, and the spec's writers leave it alone") {
  ManualClock clock;
  aggregated::Store store{kEpoch};
  std::vector<std::string> before;
  aggregated::Api api(store, clock, nullptr, {.complete_status = [&](std::string, std::string_view last) {
                        before.emplace_back(last);
                        return R"({"updateTime":")" + std::to_string(before.size()) + "\"}";
                      }});
  const auto send = [&](http::Method method, const std::string& path, const std::string& body) {
    http::Request request;
    request.method = method;
    request.path = std::string(kNodeMetrics) + path;
    request.body = body;
    if (method == http::Method::patch) request.headers = {{"Content-Type", "application/merge-patch+json"}};
    return api.answer(request, {.user = "admin"}).status;
  };
  CHECK(send(http::Method::put, "/a/status", node_metric("a", usage_status(1))) == 201);
  CHECK(send(http::Method::put, "/a/status", node_metric("a", usage_status(2))) == 200);
  CHECK(send(http::Method::patch, "/a/status", R"({"status":{"updateTime":"2026-01-02T03:04:05Z"}})") == 200);
  CHECK(send(http::Method::put, "/a", node_metric("a", usage_status(3))) == 200);
  CHECK(before == std::vector<std::string>{"", R"({"updateTime":"1"})", R"({"updateTime":"2"})"});
  CHECK(store.find("a")->status().value() == R"({"updateTime":"3"})");
}
