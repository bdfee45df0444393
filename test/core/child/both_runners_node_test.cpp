// SPDX-License-Identifier: Apache-2.0
// koord.fs/1, koord.cgroup/1 and koord.capabilities/1 with good and bad arguments, in both runners.
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

koord_status read(const Side& side, std::uint32_t root, koord_str file) {
  char buf[64];
  std::uint64_t need = 0;
  return side.fs().read(side.host, root, file, buf, sizeof buf, &need);
}

koord_status open(const Side& side, std::string_view dir, std::string_view file, std::vector<koord_str> keys) {
  std::uint64_t handle = 0;
  return side.cgroup().open(side.host, str(dir), str(file), keys.data(), static_cast<std::uint32_t>(keys.size()), &handle);
}

koord_status report(const Side& side, std::string_view name, std::uint32_t state = KOORD_CAPABILITY_ABSENT) {
  return side.capabilities().report(side.host, str(name), state, str("no"));
}

const Row kRows[] = {
    {"fs path", [](const Side& s) { char b[256]; std::uint64_t n; return s.fs().path(s.host, KOORD_ROOT_PROC, b, 256, &n); }, KOORD_OK},
    {"fs path of no root", [](const Side& s) { char b[256]; std::uint64_t n; return s.fs().path(s.host, 99, b, 256, &n); }, KOORD_E_INVALID},
    {"fs read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("stat")); }, KOORD_OK},
    {"fs read what needs a grant", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/io")); }, KOORD_E_DENIED},
    {"fs read what is never read", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("1/environ")); }, KOORD_E_DENIED},
    {"fs read out of the root", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("../x")); }, KOORD_E_INVALID},
    {"fs read without a name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str("")); }, KOORD_E_INVALID},
    {"fs read NULL", [](const Side& s) { return read(s, KOORD_ROOT_PROC, {nullptr, 4}); }, KOORD_E_INVALID},
    {"fs read a long name", [](const Side& s) { return read(s, KOORD_ROOT_PROC, str(kLong)); }, KOORD_E_INVALID},

    {"cgroup open", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_periods")}); }, KOORD_OK},
    {"cgroup open what is gone", [](const Side& s) { return open(s, "gone.slice", "cpu.stat", {str("nr_periods")}); }, KOORD_E_GONE},
    {"cgroup open above", [](const Side& s) { return open(s, "../x", "cpu.stat", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown file", [](const Side& s) { return open(s, kPod, "cpu.statt", {str("nr_periods")}); }, KOORD_E_INVALID},
    {"cgroup open an unknown key", [](const Side& s) { return open(s, kPod, "cpu.stat", {str("nr_period")}); }, KOORD_E_INVALID},
    {"cgroup open without keys", [](const Side& s) { return open(s, kPod, "cpu.stat", {}); }, KOORD_E_INVALID},
    {"cgroup open with many keys", [](const Side& s) { return open(s, kPod, "cpu.stat", std::vector<koord_str>(300, str("k"))); }, KOORD_E_INVALID},
    {"cgroup open with a NULL key", [](const Side& s) { return open(s, kPod, "cpu.stat", {{nullptr, 2}}); }, KOORD_E_INVALID},
    {"cgroup read", [](const Side& s) { std::int64_t v; return s.cgroup().read(s.host, 1, &v, 1, nullptr); }, KOORD_OK},
    {"cgroup read too few", [](const Side& s) { std::int64_t v[9]; return s.cgroup().read(s.host, 1, v, 9, nullptr); }, KOORD_E_INVALID},
    {"cgroup read very many", [](const Side& s) { std::vector<std::int64_t> v(9000); return s.cgroup().read(s.host, 1, v.data(), 9000, nullptr); }, KOORD_E_INVALID},
    {"cgroup read no handle", [](const Side& s) { std::int64_t v; return s.cgroup().read(s.host, 4711, &v, 1, nullptr); }, KOORD_E_INVALID},
    {"cgroup read NULL", [](const Side& s) { return s.cgroup().read(s.host, 1, nullptr, 1, nullptr); }, KOORD_E_INVALID},

    {"capability report", [](const Side& s) { return report(s, "com.acme.x/nvml"); }, KOORD_OK},
    {"capability report by its id", [](const Side& s) { return report(s, "com.acme.x"); }, KOORD_OK},
    {"capability report of the agent", [](const Side& s) { return report(s, "bpf"); }, KOORD_E_DENIED},
    {"capability report of a plugin of the agent", [](const Side& s) { return report(s, "advisor-node-resource"); }, KOORD_E_DENIED},
    {"capability report of another plugin", [](const Side& s) { return report(s, "com.acme.y/nvml"); }, KOORD_E_DENIED},
    {"capability report that begins like its id", [](const Side& s) { return report(s, "com.acme.xy"); }, KOORD_E_DENIED},
    {"capability report with an empty part", [](const Side& s) { return report(s, "com.acme.x/"); }, KOORD_E_DENIED},
    {"capability get", [](const Side& s) { std::uint32_t v; return s.capabilities().get(s.host, str("com.acme.x/nvml"), &v); }, KOORD_OK},
    {"capability get an unknown one", [](const Side& s) { std::uint32_t v; return s.capabilities().get(s.host, str("y"), &v); }, KOORD_E_NOT_FOUND},
    {"capability get NULL", [](const Side& s) { return s.capabilities().get(s.host, str("com.acme.x"), nullptr); }, KOORD_E_INVALID},
    {"capability report no state", [](const Side& s) { return report(s, "com.acme.x", 99); }, KOORD_E_INVALID},
};

}  // namespace

TEST_CASE("koord.fs/1, koord.cgroup/1 and koord.capabilities/1 give a plugin in the agent and one in a child the same status and text") {
  check_in_both_runners(kRows);
}
