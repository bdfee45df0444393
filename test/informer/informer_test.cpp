// SPDX-License-Identifier: Apache-2.0
// An informer of the real client-go (test/informer/program) during restarts of the server; each restart is a new epoch.
// Skipped unless KOORD_INFORMER names the program.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>

#include "test/core/aggregated/api_fixture.hpp"
#include "test/core/aggregated/running_api.hpp"
#include "test/informer/informer_process.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kNodes = 50;
// client-go waits up to a minute after errors that follow each other within two minutes.
constexpr auto kBackoff = std::chrono::minutes(2);

std::string node(int number) { return "node-" + std::to_string(100 + number); }

void report_all(RunningApi& api, int milli) {
  for (int i = 0; i < kNodes; ++i) {
    http::Request request;
    request.method = http::Method::put;
    request.path = std::string(kNodeMetrics) + "/" + node(i) + "/status";
    request.body = node_metric(node(i), usage_status(milli + i));
    REQUIRE(api.api().answer(request, {.user = "system:node:" + node(i)}).status < 300);
  }
}

std::string expected(const RunningApi& api) {
  std::string text;
  for (const auto& object : api.store().behind("", kNodes))
    text += "= " + object->name() + " " + std::to_string(object->version()) + " " + object->cells().cpu + "\n";
  return text;
}

}  // namespace

TEST_CASE("an informer of client-go has the objects of the newest leader after four restarts, and sees no deletion") {
  const std::string program = informer_program();
  if (program.empty()) return;
  auto api = std::make_unique<RunningApi>(kEpoch);
  const std::string address = api->address();
  report_all(*api, 1000);
  InformerProcess informer(program, {api->url()});
  REQUIRE(eventually([&] { return informer.has("SYNCED"); }));
  CHECK(informer.objects() == expected(*api));
  for (aggregated::Version restart = 1; restart <= 4; ++restart) {
    api.reset();
    api = std::make_unique<RunningApi>(kEpoch + restart * 1'000'000, address, http::Limits{}, false);
    report_all(*api, 1000 * (static_cast<int>(restart) + 1));
    api->store().begin_serving();
    CHECK(eventually([&] { return informer.objects() == expected(*api); }, kBackoff));
    report_all(*api, 1000 * (static_cast<int>(restart) + 1) + 500);
    CHECK(eventually([&] { return informer.objects() == expected(*api); }, kBackoff));
  }
  CHECK(informer.output().find("DELETE") == std::string::npos);
}
