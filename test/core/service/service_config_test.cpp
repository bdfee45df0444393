// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct Config : OnHost<koord_svc_config> {
  Config()
      : OnHost("koord.config/1", {},
               R"({"period": 5, "share": 0.5, "on": true, "name": "x", "limits": {"cpu": 2}, "list": [1, 7]})") {}

  std::string text(std::string_view pointer) {
    return plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return service->string(abi, str(pointer), buf, cap, need);
    });
  }
};

}  // namespace

TEST_CASE_FIXTURE(Config, "a value is found by its JSON pointer") {
  std::int64_t integer = 0;
  CHECK(service->i64(abi, str("/limits/cpu"), &integer) == KOORD_OK);
  CHECK(integer == 2);
  CHECK(service->i64(abi, str("/list/1"), &integer) == KOORD_OK);
  CHECK(integer == 7);
  CHECK(text("/name") == "x");
}

TEST_CASE_FIXTURE(Config, "an integer is a number, but a number is no integer") {
  double number = 0;
  std::int64_t integer = 0;
  CHECK(service->f64(abi, str("/period"), &number) == KOORD_OK);
  CHECK(number == 5.0);
  CHECK(service->i64(abi, str("/share"), &integer) == KOORD_E_INVALID);
  CHECK(host.last_error() == "'/share' is double, expected an integer");
}

TEST_CASE_FIXTURE(Config, "a boolean is 0 or 1") {
  std::int32_t on = 7;
  CHECK(service->boolean(abi, str("/on"), &on) == KOORD_OK);
  CHECK(on == 1);
  CHECK(service->boolean(abi, str("/period"), &on) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Config, "a missing value is not found, and an invalid pointer is an error") {
  std::int64_t integer = 0;
  CHECK(service->i64(abi, str("/nothing"), &integer) == KOORD_E_NOT_FOUND);
  CHECK(service->i64(abi, str("/limits/memory"), &integer) == KOORD_E_NOT_FOUND);
  CHECK(service->i64(abi, str("/list/9"), &integer) == KOORD_E_NOT_FOUND);
  CHECK(service->i64(abi, str("/period/deeper"), &integer) == KOORD_E_NOT_FOUND);
  CHECK(service->i64(abi, str("period"), &integer) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Config, "a text that does not fit says its size and writes nothing") {
  std::uint64_t need = 0;
  char buf[1] = {'-'};
  CHECK(service->json(abi, buf, 1, &need) == KOORD_E_TOO_SMALL);
  CHECK(need > 1);
  CHECK(buf[0] == '-');
  CHECK(service->json(abi, nullptr, 0, &need) == KOORD_E_TOO_SMALL);
}

TEST_CASE_FIXTURE(Config, "a new configuration is read from the next look-up on") {
  REQUIRE(host.context().set_config_json(R"({"period": 9})"));
  std::int64_t period = 0;
  CHECK(service->i64(abi, str("/period"), &period) == KOORD_OK);
  CHECK(period == 9);
}

TEST_CASE_FIXTURE(Config, "a configuration that is not an object is refused and the old one stays") {
  for (const char* bad : {"[1]", "{", "7"}) CHECK_FALSE(host.context().set_config_json(bad));
  std::int64_t period = 0;
  CHECK(service->i64(abi, str("/period"), &period) == KOORD_OK);
  CHECK(period == 5);
}

TEST_CASE("no configuration is an empty object") {
  OnHost<koord_svc_config> on("koord.config/1", {}, "");
  char buf[8];
  std::uint64_t need = 0;
  REQUIRE(on.service->json(on.abi, buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string_view(buf, need) == "{}");
}

TEST_CASE_FIXTURE(Config, "a configuration changes under a reader's hands without harm") {
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i)
      static_cast<void>(host.context().set_config_json(i % 2 ? R"({"name": "longer"})" : R"({"name": "x"})"));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string name = text("/name");
    CHECK((name == "x" || name == "longer"));
  }
  writer.join();
}

TEST_CASE_FIXTURE(Config, "NULL is refused with a text") {
  std::int64_t integer = 0;
  CHECK(service->i64(abi, str("/period"), nullptr) == KOORD_E_INVALID);
  CHECK(host.last_error() == "value is NULL");
  CHECK(service->i64(abi, {nullptr, 3}, &integer) == KOORD_E_INVALID);
  CHECK(host.last_error() == "pointer is NULL with a length of 3");
  CHECK(service->json(abi, nullptr, 4, nullptr) == KOORD_E_INVALID);
}
