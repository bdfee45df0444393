// SPDX-License-Identifier: Apache-2.0
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct KeyValue : OnHost<koord_svc_kv> {
  KeyValue() : OnHost("koord.kv/1") {}

  koord_status set(std::string_view key, std::string_view value, std::uint64_t ttl_ns = 0) {
    return service->set(abi, str(key), value.data(), value.size(), ttl_ns);
  }
  std::string get(std::string_view key, const koord_host* as = nullptr) {
    char buf[64];
    std::uint64_t need = 0;
    if (service->get(as ? as : abi, str(key), buf, sizeof buf, &need) != KOORD_OK) return "not found";
    return std::string(buf, need);
  }
};

}  // namespace

TEST_CASE_FIXTURE(KeyValue, "a value is read back under its own key, with or without the plugin's id") {
  REQUIRE(set("cpu_model", "EPYC") == KOORD_OK);
  CHECK(get("cpu_model") == "EPYC");
  CHECK(get("test/cpu_model") == "EPYC");
}

TEST_CASE_FIXTURE(KeyValue, "another plugin reads it with the id, and has keys of its own") {
  auto other = host.make_context("com.example.other", {"koord.kv/1"});
  REQUIRE(set("model", "ours") == KOORD_OK);
  REQUIRE(service->set(other->host(), str("model"), "theirs", 6, 0) == KOORD_OK);
  CHECK(get("test/model", other->host()) == "ours");
  CHECK(get("model", other->host()) == "theirs");
  CHECK(get("model") == "ours");
}

TEST_CASE_FIXTURE(KeyValue, "a plugin cannot write another's key") {
  auto other = host.make_context("com.example.other", {"koord.kv/1"});
  REQUIRE(set("model", "ours") == KOORD_OK);
  REQUIRE(service->set(other->host(), str("test/model"), "bad", 3, 0) == KOORD_OK);
  CHECK(get("model") == "ours");
}

TEST_CASE_FIXTURE(KeyValue, "an expired value is not found") {
  REQUIRE(set("disks", "sda", 1'000'000'000) == KOORD_OK);
  CHECK(get("disks") == "sda");
  host.clock().advance(2s);
  CHECK(get("disks") == "not found");
}

TEST_CASE_FIXTURE(KeyValue, "a value that does not fit says its size and writes nothing") {
  REQUIRE(set("long", "0123456789") == KOORD_OK);
  char buf[2] = {'-', '-'};
  std::uint64_t need = 0;
  CHECK(service->get(abi, str("long"), buf, 2, &need) == KOORD_E_TOO_SMALL);
  CHECK(need == 10);
  CHECK(buf[0] == '-');
}

TEST_CASE_FIXTURE(KeyValue, "an empty value is a value") {
  REQUIRE(service->set(abi, str("empty"), nullptr, 0, 0) == KOORD_OK);
  CHECK(get("empty").empty());
}

TEST_CASE_FIXTURE(KeyValue, "NULL, empty keys and what is too large are refused") {
  std::uint64_t need = 0;
  CHECK(set("", "x") == KOORD_E_INVALID);
  CHECK(set(std::string_view("a\0b", 3), "x") == KOORD_E_INVALID);
  CHECK(set(std::string(300, 'k'), "x") == KOORD_E_INVALID);
  CHECK(service->set(abi, str("k"), nullptr, 1, 0) == KOORD_E_INVALID);
  CHECK(service->set(abi, str("k"), "x", ~0ull, 0) == KOORD_E_INVALID);
  CHECK(service->get(abi, str("k"), nullptr, 0, nullptr) == KOORD_E_INVALID);
  CHECK(service->get(abi, str("k"), nullptr, 1, &need) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(KeyValue, "a key is removed, and one that does not exist is no error") {
  REQUIRE(set("model", "x") == KOORD_OK);
  CHECK(service->remove(abi, str("model")) == KOORD_OK);
  CHECK(get("model") == "not found");
  CHECK(service->remove(abi, str("model")) == KOORD_OK);
  CHECK(service->remove(abi, str("")) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(KeyValue, "a plugin cannot remove another's key") {
  auto other = host.make_context("com.example.other", {"koord.kv/1"});
  REQUIRE(set("model", "ours") == KOORD_OK);
  CHECK(service->remove(other->host(), str("test/model")) == KOORD_OK);
  CHECK(get("model") == "ours");
}

TEST_CASE_FIXTURE(KeyValue, "keys are bounded in number and in bytes, and what is removed makes room") {
  const std::string half(512u << 10, 'x');
  REQUIRE(set("a", half) == KOORD_OK);
  REQUIRE(set("a", half) == KOORD_OK);  // the old value does not count
  CHECK(set("b", half) == KOORD_E_AGAIN);
  CHECK(host.last_error().find("expected at most 1048576") != std::string::npos);
  CHECK(host.context().meter()->breaches.newest(host.clock().now()).find("1048576") != std::string::npos);
  REQUIRE(service->remove(abi, str("a")) == KOORD_OK);
  CHECK(set("b", half) == KOORD_OK);
  koord_status status = KOORD_OK;
  int keys = 1;
  for (; status == KOORD_OK && keys < 3000; ++keys) status = set("k" + std::to_string(keys), "x");
  CHECK(status == KOORD_E_AGAIN);
  CHECK(keys == 1001);
  CHECK(host.last_error() == "it has 1000 keys, as many as a plugin may have");
  auto other = host.make_context("com.example.other", {"koord.kv/1"});
  CHECK(service->set(other->host(), str("mine"), "x", 1, 0) == KOORD_OK);
}
