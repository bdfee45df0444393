// SPDX-License-Identifier: Apache-2.0
// koord_host itself in both runners: its services, log and errors.
#include "core/log/capture.hpp"
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

const void* find_table(const Side& side, const char* id) { return side.host()->get_service(side.host(), id); }

std::uint32_t size_of_table(const void* table) { return table ? *static_cast<const std::uint32_t*>(table) : 0; }

// Returns the last log line without its time. A child does not wait for log lines, so this makes one more call after
// the log line.
std::string logged(const Side& side, std::int32_t level, koord_str message) {
  const log::Capture log;
  side.host()->log(side.host(), level, message);
  (void)side.call(&koord_svc_clock::now_ns);
  const std::vector<std::string> lines = log.lines();
  if (lines.empty()) return "";
  return lines.back().substr(lines.back().find(" "));
}

void set_error(const Side& side, koord_str why) { side.host()->set_error(side.host(), KOORD_E_IO, why); }

}  // namespace

TEST_CASE("each service that the agent offers has rows in the tests of both runners") {
  CHECK(services_with_rows() == workshop::all_services());
}

TEST_CASE("both runners find the same services, with tables of the same size") {
  BothRunners both;
  for (const std::string& id : workshop::all_services()) {
    CAPTURE(id);
    CHECK(size_of_table(find_table(both.near_side, id.c_str())) > 0);
    CHECK(size_of_table(find_table(both.far_side, id.c_str())) ==
          size_of_table(find_table(both.near_side, id.c_str())));
  }
  for (const std::string id : {"koord.none/1", "koord.kv/2", "koord.kv", "KOORD.KV/1", ""}) {
    CAPTURE(id);
    CHECK(find_table(both.near_side, id.c_str()) == nullptr);
    CHECK(find_table(both.far_side, id.c_str()) == nullptr);
  }
  CHECK(find_table(both.near_side, nullptr) == nullptr);
  CHECK(find_table(both.far_side, nullptr) == nullptr);
}

TEST_CASE("both runners find no service that is not granted") {
  const Trees trees;
  OneHost one(trees.node);
  Far far(one);
  far.remote().grant({"koord.kv/1"});
  service::PluginContext near{one.host.services(), "com.acme.y", {"koord.kv/1"}, "{}", {}};
  CalledFunctions called;
  for (const Side& side : {Side(one, near, called), Side(one, far.remote(), called)}) {
    CHECK(find_table(side, "koord.kv/1") != nullptr);
    CHECK(find_table(side, "koord.fs/1") == nullptr);
  }
}

TEST_CASE("both runners log the same line") {
  BothRunners both;
  for (const koord_str message : {str("it is late"), str(""), str(kLong), koord_str{nullptr, 3}})
    for (const std::int32_t level : {KOORD_LOG_DEBUG, KOORD_LOG_INFO, KOORD_LOG_WARN, KOORD_LOG_ERROR, 99}) {
      CAPTURE(message.n);
      CAPTURE(level);
      CHECK(logged(both.near_side, level, message) == logged(both.far_side, level, message));
    }
  CHECK(logged(both.far_side, KOORD_LOG_WARN, str("it is late")).find("com.acme.x: it is late") != std::string::npos);
}

TEST_CASE("both runners keep the same text of a plugin's error") {
  BothRunners both;
  for (const koord_str why : {str("the disk is full"), str(""), str(kLong), koord_str{nullptr, 3}}) {
    CAPTURE(why.n);
    set_error(both.near_side, why), set_error(both.far_side, why);
    CHECK(error_text(both.far.remote()) == error_text(both.near_host.context));
  }
}

TEST_CASE("both runners keep a plugin's error over a failed call that has no text") {
  BothRunners both;
  for (const Side& side : {both.near_side, both.far_side}) {
    std::uint64_t need = 0;
    set_error(side, str("the disk is full"));
    REQUIRE(side.call(&koord_svc_config::json, nullptr, 0, &need) == KOORD_E_TOO_SMALL);
  }
  CHECK(error_text(both.near_host.context) == "the disk is full");
  CHECK(error_text(both.far.remote()) == "the disk is full");
}
