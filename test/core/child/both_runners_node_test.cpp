// SPDX-License-Identifier: Apache-2.0
// koord.fs/1, koord.cgroup/1 and koord.capabilities/1 with valid and invalid arguments, in both runners.
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

Reply read(const Side& side, std::uint32_t root, koord_str file, std::uint64_t cap = 256) {
  return bytes_of([&](auto... buffer) { return side.call(&koord_svc_fs::read, root, file, buffer...); }, cap);
}

Reply path(const Side& side, std::uint32_t root) {
  return bytes_of([&](auto... buffer) { return side.call(&koord_svc_fs::path, root, buffer...); });
}

Reply open(const Side& side, std::string_view dir, std::string_view file, std::vector<koord_str> keys) {
  return value_of<std::uint64_t>([&](auto* handle) {
    return side.call(&koord_svc_cgroup::open, str(dir), str(file), keys.data(), static_cast<std::uint32_t>(keys.size()),
                     handle);
  });
}

// Reads a file that was opened with one key. The value and its time are 77 before the call.
Reply read_value(const Side& side, std::uint64_t handle) {
  std::int64_t value = 77;
  std::uint64_t read_ns = 77;
  const koord_status status = side.call(&koord_svc_cgroup::read, handle, &value, 1, &read_ns);
  return {status, std::to_string(value) + " at " + std::to_string(read_ns)};
}

Reply capability(const Side& side, koord_str name) {
  return value_of<std::uint32_t>([&](auto* state) { return side.call(&koord_svc_capabilities::get, name, state); });
}

koord_status report(const Side& side, std::string_view name, std::uint32_t state = KOORD_CAPABILITY_ABSENT) {
  return side.call(&koord_svc_capabilities::report, str(name), state, str("no"));
}

// clang-format off
const RowsOf<koord_svc_fs, koord_svc_cgroup, koord_svc_capabilities> kRows = {
    {"fs path", [](const Side& s) { return path(s, KOORD_ROOT_PROC); }, KOORD_OK},
    {"fs path of no root", [](const Side& s) { return path(s, 99); }, KOORD_E_INVALID},
    {"fs read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("stat")); }, KOORD_OK},
    {"fs read without room", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("stat"), 3); }, KOORD_E_TOO_SMALL},
    {"fs read what needs a grant", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/io")); }, KOORD_E_DENIED},
    {"fs read what is never read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/environ")); }, KOORD_E_DENIED},
    {"fs read out of the root", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("../x")); }, KOORD_E_INVALID},
    {"fs read without a name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("")); }, KOORD_E_INVALID},
    {"fs read NULL", [](const Side& s) { return read(s, KOORD_ROOT_PROC, {nullptr, 4}); }, KOORD_E_INVALID},
    {"fs read no name of no root", [](const Side& s) { return read(s, 99, str("")); }, KOORD_E_INVALID},
    {"fs read a long name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str(kLong)); }, KOORD_E_INVALID},

    {"cgroup open", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_periods")}); }, KOORD_OK},
    {"cgroup open what is gone", [](const Side& s) { return open(s, "gone.slice", "cpu.stat", {str("nr_periods")}); }, KOORD_E_GONE},
    {"cgroup open above", [](const Side& s) { return open(s, "../x", "cpu.stat", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown file", [](const Side& s) { return open(s, kPod, "cpu.statt", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown key", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_period")}); }, KOORD_E_INVALID},
    {"cgroup open without keys", [](const Side& s) { return open(s, kPod, "cpu.stat", {}); }, KOORD_E_INVALID},
    {"cgroup open with many keys", [](const Side& s) { return open(s, kPod, "cpu.stat", std::vector<koord_str>(300, str("k"))); }, KOORD_E_INVALID},
    {"cgroup open with a NULL key", [](const Side& s) { return open(s, kPod, "cpu.stat", {{nullptr, 2}}); }, KOORD_E_INVALID},
    {"cgroup read", [](const Side& s) { return read_value(s, 1); }, KOORD_OK},
    {"cgroup read too few", [](const Side& s) { std::int64_t v[9]; return s.call(&koord_svc_cgroup::read, 1, v, 9, nullptr); }, KOORD_E_INVALID},
    {"cgroup read very many", [](const Side& s) { std::vector<std::int64_t> v(9000); return s.call(&koord_svc_cgroup::read, 1, v.data(), 9000, nullptr); }, KOORD_E_INVALID},
    {"cgroup read no handle", [](const Side& s) { return read_value(s, 4711); }, KOORD_E_INVALID},
    {"cgroup close no handle",
     [](const Side& s) {
       s.call(&koord_svc_cgroup::close, 4711);
       return read_value(s, 1).status == KOORD_OK ? kNothing : KOORD_E_IO;
     },
     kNothing},
    {"cgroup close",
     [](const Side& s) {
       const Reply opened = open(s, kPod, "cpu.max", {str("quota_us")});
       const std::uint64_t handle = std::stoull(opened.answer);
       REQUIRE(read_value(s, handle).status == KOORD_OK);
       s.call(&koord_svc_cgroup::close, handle);
       return read_value(s, handle).status == KOORD_E_INVALID ? KOORD_OK : KOORD_E_IO;
     },
     KOORD_OK},
    {"cgroup read NULL", [](const Side& s) { return s.call(&koord_svc_cgroup::read, 1, nullptr, 1, nullptr); }, KOORD_E_INVALID},

    {"capability report", [](const Side& s) { return report(s, "com.acme.x/nvml"); }, KOORD_OK},
    {"capability report by its id", [](const Side& s) { return report(s, "com.acme.x"); }, KOORD_OK},
    {"capability report of the agent", [](const Side& s) { return report(s, "bpf"); }, KOORD_E_DENIED},
    {"capability report of a plugin of the agent", [](const Side& s) { return report(s, "advisor-node-resource"); }, KOORD_E_DENIED},
    {"capability report of another plugin", [](const Side& s) { return report(s, "com.acme.y/nvml"); }, KOORD_E_DENIED},
    {"capability report that begins like its id", [](const Side& s) { return report(s, "com.acme.xy"); }, KOORD_E_DENIED},
    {"capability report with an empty part", [](const Side& s) { return report(s, "com.acme.x/"); }, KOORD_E_DENIED},
    {"capability get", [](const Side& s) { return capability(s, str("com.acme.x/nvml")); }, KOORD_OK},
    {"capability get an unknown one", [](const Side& s) { return capability(s, str("y")); }, KOORD_E_NOT_FOUND},
    {"capability get NULL", [](const Side& s) { return s.call(&koord_svc_capabilities::get, str("com.acme.x"), nullptr); }, KOORD_E_INVALID},
    {"capability report no state", [](const Side& s) { return report(s, "com.acme.x", 99); }, KOORD_E_INVALID},
};
// clang-format on

}  // namespace

TEST_CASE(
    "koord.fs/1, koord.cgroup/1 and koord.capabilities/1 give a plugin in the agent and one in a child the same answer") {
  kRows.check();
}
