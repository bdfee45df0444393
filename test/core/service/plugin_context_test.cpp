// SPDX-License-Identifier: Apache-2.0
#include "core/service/plugin_context.hpp"

#include <thread>

#include "core/log/capture.hpp"
#include "core/service/services.hpp"
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Context {
  FakeNode node;
  FakeHost host{node};
  std::unique_ptr<service::PluginContext> plugin = host.make_context("com.example.x", {"koord.clock/1"});
  const koord_host* abi = plugin->host();
};

}  // namespace

TEST_CASE_FIXTURE(Context, "a plugin gets what is offered and granted, and NULL for everything else") {
  CHECK(abi->get_service(abi, "koord.clock/1") == &service::clock_service);
  CHECK(abi->get_service(abi, "koord.knobs/1") == nullptr);
  CHECK(abi->get_service(abi, "koord.clock/2") == nullptr);
  CHECK(abi->get_service(abi, nullptr) == nullptr);
  auto strategy = host.make_context("com.example.y", {"koord.magic/1"});
  CHECK(strategy->host()->get_service(strategy->host(), "koord.magic/1") == nullptr);
}

TEST_CASE("every offered service says its size") {
  for (const service::OfferedService& service : service::offered_services()) {
    std::uint32_t size = 0;
    std::memcpy(&size, service.table, sizeof size);
    CAPTURE(service.id);
    CHECK(size >= 2 * sizeof(void*));
    CHECK(service::find_service(service.id) == service.table);
  }
}

TEST_CASE_FIXTURE(Context, "an error is taken once, with its status and text") {
  abi->set_error(abi, KOORD_E_IO, str("the disk is full"));
  const auto error = plugin->take_error();
  REQUIRE(error);
  CHECK(error->status == KOORD_E_IO);
  CHECK(error->text == "the disk is full");
  CHECK_FALSE(plugin->take_error());
}

TEST_CASE_FIXTURE(Context, "an error belongs to the thread of the call and to its plugin") {
  auto other = host.make_context("com.example.y", {});
  abi->set_error(abi, KOORD_E_IO, str("mine"));
  CHECK_FALSE(other->take_error());
  std::thread([&] { CHECK_FALSE(plugin->take_error()); }).join();
  CHECK(plugin->take_error()->text == "mine");
}

TEST_CASE_FIXTURE(Context, "a log line carries the plugin's id") {
  log::Capture capture;
  abi->log(abi, KOORD_LOG_WARN, str("no counters here"));
  REQUIRE(capture.lines().size() == 1);
  CHECK(capture.contains("WARN"));
  CHECK(capture.contains("com.example.x: no counters here"));
}

TEST_CASE_FIXTURE(Context, "a plugin that floods the log is cut off and counted") {
  log::Capture capture;
  for (int i = 0; i < 1000; ++i) abi->log(abi, KOORD_LOG_INFO, str("again"));
  CHECK(capture.lines().size() < 100);
  host.clock().advance(1min);
  abi->log(abi, KOORD_LOG_INFO, str("later"));
  CHECK(capture.contains("later"));
}

TEST_CASE_FIXTURE(Context, "the clock is the host's") {
  host.clock().advance(5s);
  CHECK(service::clock_service.now_ns(abi) == to_ns(host.clock().now()));
  CHECK(service::clock_service.wall_ns(abi) == static_cast<std::uint64_t>(host.clock().wall_ns()));
  CHECK(service::clock_service.now_ns(nullptr) == 0);
}

TEST_CASE_FIXTURE(Context, "calls with NULL do no harm") {
  abi->log(nullptr, KOORD_LOG_INFO, str("x"));
  abi->log(abi, 99, {nullptr, 5});
  abi->set_error(nullptr, KOORD_E_IO, str("x"));
  CHECK(abi->get_service(nullptr, "koord.clock/1") == nullptr);
}
