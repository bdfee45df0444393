// SPDX-License-Identifier: Apache-2.0
// koord.kv/1, koord.config/1 and koord.clock/1 with valid and invalid arguments, in both runners.
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

Reply get(const Side& side, koord_str key, std::uint64_t cap = 256) {
  return bytes_of([&](auto... buffer) { return side.call(&koord_svc_kv::get, key, buffer...); }, cap);
}

koord_status set(const Side& side, koord_str key, const void* value, std::uint64_t n) {
  return side.call(&koord_svc_kv::set, key, value, n, 0);
}

koord_status remove_key(const Side& side, koord_str key) { return side.call(&koord_svc_kv::remove, key); }

template <class Value>
Reply config(const Side& side, koord_status (*koord_svc_config::*get)(const koord_host*, koord_str, Value*),
             koord_str pointer) {
  return value_of<Value>([&](auto* value) { return side.call(get, pointer, value); });
}

Reply config_string(const Side& side, koord_str pointer, std::uint64_t cap = 256) {
  return bytes_of([&](auto... buffer) { return side.call(&koord_svc_config::string, pointer, buffer...); }, cap);
}

Reply config_json(const Side& side, std::uint64_t cap = 256) {
  return bytes_of([&](auto... buffer) { return side.call(&koord_svc_config::json, buffer...); }, cap);
}

// Returns the time of one clock. The clocks of both hosts do not move; wall time and host time differ.
Reply time(const Side& side, std::uint64_t (*koord_svc_clock::*clock)(const koord_host*)) {
  const std::uint64_t now_ns = side.call(clock);
  return {now_ns ? KOORD_OK : kNothing, now_ns};
}

// clang-format off
const RowsOf<koord_svc_kv, koord_svc_config, koord_svc_clock> kRows = {
    {"kv set", [](const Side& s) { return set(s, str("key"), "value", 5); }, KOORD_OK},
    {"kv get", [](const Side& s) { return get(s, str("key")); }, KOORD_OK, "5 value"},
    {"kv get without room", [](const Side& s) { return get(s, str("key"), 4); }, KOORD_E_TOO_SMALL, "5 "},
    {"kv get what is not there", [](const Side& s) { return get(s, str("none")); }, KOORD_E_NOT_FOUND},
    {"kv get without a key", [](const Side& s) { return get(s, str("")); }, KOORD_E_INVALID},
    {"kv get with a NULL key", [](const Side& s) { return get(s, {nullptr, 4}); }, KOORD_E_INVALID},
    {"kv get with a huge key", [](const Side& s) { return get(s, {"x", 1ull << 60}); }, KOORD_E_INVALID},
    {"kv get without need", [](const Side& s) { return s.call(&koord_svc_kv::get, str("key"), nullptr, 0, nullptr); }, KOORD_E_INVALID},
    {"kv set NULL", [](const Side& s) { return set(s, str("key"), nullptr, 5); }, KOORD_E_INVALID},
    {"kv set a huge value", [](const Side& s) { return set(s, str("key"), kHuge.data(), kHuge.size()); }, KOORD_E_INVALID},
    {"kv set a value of a wrong size", [](const Side& s) { return set(s, str("key"), "x", 1ull << 60); }, KOORD_E_INVALID},
    {"kv set a long key", [](const Side& s) { return set(s, str(std::string_view(kLong).substr(0, 300)), "x", 1); }, KOORD_E_INVALID},
    {"kv set beyond the quota", [](const Side& s) { return set(s, str("big"), kHuge.data(), 1 << 20); }, KOORD_E_AGAIN},
    {"kv remove", [](const Side& s) { return remove_key(s, str("key")); }, KOORD_OK},
    {"kv get what was removed", [](const Side& s) { return get(s, str("key")); }, KOORD_E_NOT_FOUND},
    {"kv remove NULL", [](const Side& s) { return remove_key(s, {nullptr, 1}); }, KOORD_E_INVALID},

    {"config i64", [](const Side& s) { return config(s, &koord_svc_config::i64, str("/a/b")); }, KOORD_OK, "7"},
    {"config i64 of a text", [](const Side& s) { return config(s, &koord_svc_config::i64, str("/text")); }, KOORD_E_INVALID, "77"},
    {"config i64 of nothing", [](const Side& s) { return config(s, &koord_svc_config::i64, str("/none")); }, KOORD_E_NOT_FOUND, "77"},
    {"config i64 NULL", [](const Side& s) { return s.call(&koord_svc_config::i64, str("/a/b"), nullptr); }, KOORD_E_INVALID},
    {"config i64 with a NULL pointer", [](const Side& s) { return config(s, &koord_svc_config::i64, {nullptr, 9}); }, KOORD_E_INVALID},
    {"config f64", [](const Side& s) { return config(s, &koord_svc_config::f64, str("/f")); }, KOORD_OK, "1.500000"},
    {"config f64 of a text", [](const Side& s) { return config(s, &koord_svc_config::f64, str("/text")); }, KOORD_E_INVALID},
    {"config boolean", [](const Side& s) { return config(s, &koord_svc_config::boolean, str("/on")); }, KOORD_OK, "1"},
    {"config boolean of a number", [](const Side& s) { return config(s, &koord_svc_config::boolean, str("/f")); }, KOORD_E_INVALID},
    {"config string", [](const Side& s) { return config_string(s, str("/text")); }, KOORD_OK, "5 hello"},
    {"config string without room", [](const Side& s) { return config_string(s, str("/text"), 2); }, KOORD_E_TOO_SMALL, "5 "},
    {"config string of nothing", [](const Side& s) { return config_string(s, str("/none")); }, KOORD_E_NOT_FOUND},
    {"config json", [](const Side& s) { return config_json(s); }, KOORD_OK},
    {"config json without room", [](const Side& s) { return config_json(s, 2); }, KOORD_E_TOO_SMALL},
    {"config json without need", [](const Side& s) { return s.call(&koord_svc_config::json, nullptr, 0, nullptr); }, KOORD_E_INVALID},

    {"clock now", [](const Side& s) { return time(s, &koord_svc_clock::now_ns); }, KOORD_OK},
    {"clock now without a host", [](const Side& s) { return time(s.with_host(nullptr), &koord_svc_clock::now_ns); }, kNothing, "0"},
    {"clock wall", [](const Side& s) { return time(s, &koord_svc_clock::wall_ns); }, KOORD_OK},
    {"clock wall without a host", [](const Side& s) { return time(s.with_host(nullptr), &koord_svc_clock::wall_ns); }, kNothing, "0"},
};
// clang-format on

}  // namespace

TEST_CASE(
    "koord.kv/1, koord.config/1 and koord.clock/1 give a plugin in the agent and one in a child the same answer") {
  kRows.check();
}
