// SPDX-License-Identifier: Apache-2.0
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct Cgroups : OnHost<koord_svc_cgroup> {
  Cgroups()
      : OnHost("koord.cgroup/1", {{"cgroup/cgroup.controllers", "cpu memory\n"},
                                  {"cgroup/a.slice/cpu.stat", "usage_usec 5\nnr_periods 1\n"},
                                  {"cgroup/a.slice/cpu.max", "max 100000\n"}}) {}

  koord_status open(std::string_view dir, std::string_view file, std::vector<std::string_view> keys,
                    std::uint64_t* handle) {
    std::vector<koord_str> list;
    for (std::string_view key : keys) list.push_back(str(key));
    return service->open(abi, str(dir), str(file), list.data(), static_cast<std::uint32_t>(list.size()), handle);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Cgroups, "values come in the order of the keys, in the units of their names") {
  std::uint64_t handle = 0;
  REQUIRE(open("a.slice", "cpu.max", {"period_us", "quota_us"}, &handle) == KOORD_OK);
  std::int64_t values[2];
  std::uint64_t read_ns = 0;
  REQUIRE(service->read(abi, handle, values, 2, &read_ns) == KOORD_OK);
  CHECK(values[0] == 100000);
  CHECK(values[1] == -1);
  CHECK(read_ns == to_ns(host.clock().now()));
}

TEST_CASE_FIXTURE(Cgroups, "a key that the kernel's file lacks is absent") {
  std::uint64_t handle = 0;
  REQUIRE(open("a.slice", "cpu.stat", {"nr_periods", "nr_throttled"}, &handle) == KOORD_OK);
  std::int64_t values[2];
  REQUIRE(service->read(abi, handle, values, 2, nullptr) == KOORD_OK);
  CHECK(values[0] == 1);
  CHECK(values[1] == KOORD_ABSENT);
}

TEST_CASE_FIXTURE(Cgroups, "a cgroup that is not there is gone, and a file that is not is unsupported") {
  std::uint64_t handle = 0;
  CHECK(open("b.slice", "cpu.usage", {"usage_ns"}, &handle) == KOORD_E_GONE);
  CHECK(open("a.slice", "memory.usage", {"usage_bytes"}, &handle) == KOORD_E_UNSUPPORTED);
}

TEST_CASE_FIXTURE(Cgroups, "an unknown file or key is invalid, with the nearest known name") {
  std::uint64_t handle = 0;
  CHECK(open("a.slice", "cpu.statt", {"nr_periods"}, &handle) == KOORD_E_INVALID);
  CHECK(host.last_error().find("'cpu.stat'") != std::string::npos);
  CHECK(open("a.slice", "cpu.stat", {"nr_period"}, &handle) == KOORD_E_INVALID);
  CHECK(host.last_error().find("nr_periods") != std::string::npos);
}

TEST_CASE_FIXTURE(Cgroups, "a path that leads out of the hierarchy is invalid") {
  std::uint64_t handle = 0;
  for (const char* dir : {"../etc", "/a.slice", "a.slice/../../x"})
    CHECK(open(dir, "cpu.usage", {"usage_ns"}, &handle) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Cgroups, "a handle is the plugin's own") {
  std::uint64_t handle = 0;
  REQUIRE(open("a.slice", "cpu.usage", {"usage_ns"}, &handle) == KOORD_OK);
  auto other = host.make_context("com.example.other", {"koord.cgroup/1"});
  std::int64_t value = 0;
  CHECK(service->read(other->host(), handle, &value, 1, nullptr) == KOORD_E_INVALID);
  service->close(other->host(), handle);
  CHECK(service->read(abi, handle, &value, 1, nullptr) == KOORD_OK);
  CHECK(value == 5000);
}

TEST_CASE_FIXTURE(Cgroups, "a closed handle is not read, and closing twice does no harm") {
  std::uint64_t handle = 0;
  REQUIRE(open("a.slice", "cpu.usage", {"usage_ns"}, &handle) == KOORD_OK);
  service->close(abi, handle);
  service->close(abi, handle);
  std::int64_t value = 0;
  CHECK(service->read(abi, handle, &value, 1, nullptr) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Cgroups, "files that a plugin leaves open are closed with its context") {
  auto other = host.make_context("com.example.other", {"koord.cgroup/1"});
  const std::size_t before = host.services().cgroups.open_files();
  const koord_str key = str("usage_ns");
  std::uint64_t handle = 0;
  REQUIRE(service->open(other->host(), str("a.slice"), str("cpu.usage"), &key, 1, &handle) == KOORD_OK);
  CHECK(host.services().cgroups.open_files() == before + 1);
  other.reset();
  CHECK(host.services().cgroups.open_files() == before);
}

TEST_CASE_FIXTURE(Cgroups, "another count of values than of keys is refused") {
  std::uint64_t handle = 0;
  REQUIRE(open("a.slice", "cpu.usage", {"usage_ns"}, &handle) == KOORD_OK);
  std::int64_t values[2];
  CHECK(service->read(abi, handle, values, 2, nullptr) == KOORD_E_INVALID);
  CHECK(host.last_error() == "n is 2, but the file was opened with 1 keys");
  CHECK(service->read(abi, handle, nullptr, 1, nullptr) == KOORD_E_INVALID);
  CHECK(open("a.slice", "cpu.usage", {}, &handle) == KOORD_E_INVALID);
  CHECK(service->open(abi, str("a.slice"), str("cpu.usage"), nullptr, 1, &handle) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(Cgroups, "plugins that tick together and read the same file cost one read, and get its time") {
  auto other = host.make_context("com.example.other", {"koord.cgroup/1"});
  std::uint64_t mine = 0, theirs = 0;
  REQUIRE(open("a.slice", "cpu.stat", {"nr_periods"}, &mine) == KOORD_OK);
  const koord_str key = str("usage_ns");
  REQUIRE(service->open(other->host(), str("a.slice"), str("cpu.usage"), &key, 1, &theirs) == KOORD_OK);
  const std::uint64_t before = host.services().cgroups.use().reads;
  for (int tick = 1; tick <= 3; ++tick) {
    host.clock().advance(std::chrono::seconds(1));
    std::int64_t periods = 0, usage = 0;
    std::uint64_t first_ns = 0, second_ns = 0;
    CHECK(service->read(abi, mine, &periods, 1, &first_ns) == KOORD_OK);
    host.clock().advance(std::chrono::milliseconds(50));
    CHECK(service->read(other->host(), theirs, &usage, 1, &second_ns) == KOORD_OK);
    CHECK(periods == 1);
    CHECK(usage == 5000);
    CHECK(second_ns == first_ns);
    CHECK(host.services().cgroups.use().reads == before + static_cast<std::uint64_t>(tick));
  }
}

TEST_CASE_FIXTURE(Cgroups, "a plugin has 20,000 files open at most; one that is closed makes room for another") {
  std::uint64_t handle = 0;
  for (int i = 0; i < 20'000; ++i) REQUIRE(open("a.slice", "cpu.max", {"quota_us"}, &handle) == KOORD_OK);
  std::uint64_t beyond = 0;
  CHECK(open("a.slice", "cpu.max", {"quota_us"}, &beyond) == KOORD_E_AGAIN);
  CHECK(host.last_error() == "it has 20000 cgroup files open, as many as a plugin may have");
  CHECK(beyond == 0);
  service->close(abi, handle);
  CHECK(open("a.slice", "cpu.max", {"quota_us"}, &beyond) == KOORD_OK);
}
