// SPDX-License-Identifier: Apache-2.0
// Answers with a status that is stored compressed, and with one that was damaged in memory.
#include <doctest/doctest.h>

#include "api_fixture.hpp"
#include "test/bench/node_metric_bodies.hpp"

using namespace koord;
using namespace koord::test;
using http::Method;

namespace {

// Returns a status as the server writes it.
std::string long_status() {
  const std::string body = bench::NodeMetricBodies(1, 30).body(0);
  return boost::json::serialize(json_of(body).at("status"));
}

struct KeptText : ApiFixture {
  KeptText() {
    CHECK(report("a", status).status == 201);
    CHECK(report("b", status).status == 201);
  }

  // Damages the stored status of b, as a memory fault may. First other reports remove the uncompressed text of b.
  void damage_b() {
    for (std::size_t i = 0; i < aggregated::RecentTexts::kObjects; ++i) report("a", usage_status(static_cast<int>(i)));
    const_cast<char&>(store.find("b")->kept_status().kept()[20]) ^= 0x10;
  }
  http::Response patch_b() {
    return send(Method::patch, "/b", R"({"metadata":{"labels":{"x":"y"}}})",
                {{"Content-Type", "application/merge-patch+json"}});
  }

  const std::string status = long_status();
};

}  // namespace

TEST_CASE("a long status comes back byte by byte, in all answers") {
  KeptText f;
  const std::string body = f.get("/b").body, object = body.substr(0, body.size() - 1);
  CHECK(body.ends_with(R"(,"status":)" + f.status + "}\n"));
  CHECK(drain(*f.get("").stream).ends_with("," + object + "]}\n"));
  CHECK(drain(*f.get("?watch=true").stream).ends_with(R"({"type":"ADDED","object":)" + object + "}\n"));
  CHECK(f.store.find("b")->kept_status().kept().size() < f.status.size() / 3);
}

TEST_CASE("a long status that is sent again makes no new version, a changed one does") {
  KeptText f;
  const std::string body = f.get("/b").body;
  CHECK(f.report("b", f.status).body == body);
  CHECK(f.patch_b().status == 200);
  const auto patched = f.get_json("/b");
  CHECK(text_at(patched, "metadata.labels.x") == "y");
  CHECK(at(patched, "status") == json_of(f.status));
  std::string other = f.status;
  other.replace(other.find("web-29"), 6, "web-92");
  CHECK(f.report("b", other).body.ends_with(other + "}\n"));
}

TEST_CASE("the counted bytes are those of the texts, not of what is kept of them") {
  KeptText f;
  CHECK(f.store.counters().bytes == f.get("/a").body.size() + f.get("/b").body.size() + 2);
}

TEST_CASE("a damaged status is an error of a read and of a write that keeps it") {
  KeptText f;
  f.damage_b();
  CHECK(f.get("/a").status == 200);
  const http::Response refused = f.get("/b");
  CHECK(refused.status == 500);
  CHECK(text_at(json_of(refused.body), "reason") == "InternalError");
  CHECK(
      text_at(json_of(refused.body), "message").starts_with("status of NodeMetric 'b': a compressed text is damaged"));
  CHECK(f.patch_b().status == 500);
  CHECK(f.send(Method::put, "/b", node_metric("b", "{}")).status == 500);
}

TEST_CASE("a list with a damaged status has no end, so no client takes it for a whole one") {
  KeptText f;
  f.damage_b();
  CHECK_FALSE(read_json(drain(*f.get("").stream)));
  // A table contains no status.
  const http::Headers table = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};
  CHECK(json_list(f.get_json("", table), "rows").size() == 2);
}

TEST_CASE("a watch ends with an error at a damaged status") {
  KeptText f;
  f.damage_b();
  const auto watch = f.get("?watch=true").stream;
  CHECK(watch->next([] {}).head == R"({"type":"ADDED","object":)");
  CHECK(watch->next([] {}).head.starts_with(R"({"type":"ERROR","object":{"kind":"Status")"));
  CHECK(watch->next([] {}).state == http::BodyStream::State::ended);
}

TEST_CASE("the next report replaces a damaged status") {
  KeptText f;
  f.damage_b();
  CHECK(f.report("b", f.status).status == 200);
  CHECK(at(f.get_json("/b"), "status") == json_of(f.status));
}
