// SPDX-License-Identifier: Apache-2.0
// koord.kv/1 and koord.config/1 with good and bad arguments, in both runners.
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

koord_status get(const Side& side, koord_str key) {
  char buf[16];
  std::uint64_t need = 0;
  return side.kv().get(side.host, key, buf, sizeof buf, &need);
}

const Row kRows[] = {
    {"kv set", [](const Side& s) { return s.kv().set(s.host, str("key"), "value", 5, 0); }, KOORD_OK},
    {"kv get", [](const Side& s) { return get(s, str("key")); }, KOORD_OK},
    {"kv get what is not there", [](const Side& s) { return get(s, str("none")); }, KOORD_E_NOT_FOUND},
    {"kv get without a key", [](const Side& s) { return get(s, str("")); }, KOORD_E_INVALID},
    {"kv get with a NULL key", [](const Side& s) { return get(s, {nullptr, 4}); }, KOORD_E_INVALID},
    {"kv get with a huge key", [](const Side& s) { return get(s, {"x", 1ull << 60}); }, KOORD_E_INVALID},
    {"kv get without need", [](const Side& s) { return s.kv().get(s.host, str("key"), nullptr, 0, nullptr); }, KOORD_E_INVALID},
    {"kv set NULL", [](const Side& s) { return s.kv().set(s.host, str("key"), nullptr, 5, 0); }, KOORD_E_INVALID},
    {"kv set a huge value", [](const Side& s) { return s.kv().set(s.host, str("key"), kHuge.data(), kHuge.size(), 0); }, KOORD_E_INVALID},
    {"kv set a value of a wrong size", [](const Side& s) { return s.kv().set(s.host, str("key"), "x", 1ull << 60, 0); }, KOORD_E_INVALID},
    {"kv set a long key", [](const Side& s) { return s.kv().set(s.host, str(std::string_view(kLong).substr(0, 300)), "x", 1, 0); }, KOORD_E_INVALID},
    {"kv set beyond the quota", [](const Side& s) { return s.kv().set(s.host, str("big"), kHuge.data(), 1 << 20, 0); }, KOORD_E_AGAIN},
    {"kv remove", [](const Side& s) { return s.kv().remove(s.host, str("key")); }, KOORD_OK},
    {"kv remove NULL", [](const Side& s) { return s.kv().remove(s.host, {nullptr, 1}); }, KOORD_E_INVALID},

    {"config i64", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/a/b"), &v); }, KOORD_OK},
    {"config i64 of a text", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/text"), &v); }, KOORD_E_INVALID},
    {"config i64 of nothing", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, str("/none"), &v); }, KOORD_E_NOT_FOUND},
    {"config i64 NULL", [](const Side& s) { return s.config().i64(s.host, str("/a/b"), nullptr); }, KOORD_E_INVALID},
    {"config i64 with a NULL pointer", [](const Side& s) { std::int64_t v; return s.config().i64(s.host, {nullptr, 9}, &v); }, KOORD_E_INVALID},
    {"config f64", [](const Side& s) { double v; return s.config().f64(s.host, str("/f"), &v); }, KOORD_OK},
    {"config boolean of a number", [](const Side& s) { std::int32_t v; return s.config().boolean(s.host, str("/f"), &v); }, KOORD_E_INVALID},
    {"config string", [](const Side& s) { char b[9]; std::uint64_t n; return s.config().string(s.host, str("/text"), b, 9, &n); }, KOORD_OK},
    {"config string without room", [](const Side& s) { char b[2]; std::uint64_t n; return s.config().string(s.host, str("/text"), b, 2, &n); }, KOORD_E_TOO_SMALL},
    {"config json without need", [](const Side& s) { return s.config().json(s.host, nullptr, 0, nullptr); }, KOORD_E_INVALID},
};

}  // namespace

TEST_CASE("koord.kv/1 and koord.config/1 give a plugin in the agent and one in a child the same status and text") {
  check_in_both_runners(kRows);
}
