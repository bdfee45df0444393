// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/shared/memory/cgroup_memory.hpp"
#include "plugins/shared/memory/meminfo.hpp"

using namespace koord::memory;

namespace {

constexpr std::int64_t kAbsent = MemoryStat::kAbsent;

}  // namespace

TEST_CASE("a value of meminfo is found by its full name and returned in bytes, with or without a node's prefix") {
  constexpr std::string_view text =
      "MemTotal:  1000 kB\nActive:  9 kB\nNode 1 Active(file):  50 kB\nNode 1 KReclaimable: 1 kB\n";
  CHECK(*meminfo_bytes(text, "MemTotal") == 1000 * 1024);
  CHECK(*meminfo_bytes(text, "Active(file)") == 50 * 1024);
  CHECK(*meminfo_bytes(text, "Active") == 9 * 1024);
  CHECK(meminfo_bytes(text, "Reclaimable").error().text == "no line 'Reclaimable' in meminfo");
}

TEST_CASE("a line of meminfo without a number is refused") {
  CHECK_FALSE(meminfo_bytes("MemTotal:\n", "MemTotal"));
  CHECK(meminfo_bytes("MemTotal: many kB\n", "MemTotal").error().message().find("'many'") != std::string::npos);
}

TEST_CASE("the node's memory with page cache is total without free") {
  CHECK(*used_with_page_cache_bytes("MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 900 kB\n") == 700 * 1024);
  CHECK(*used_with_page_cache_bytes("MemTotal: 10 kB\nMemFree: 11 kB\n") == 0);
  CHECK_FALSE(used_with_page_cache_bytes("MemTotal: 1000 kB\n"));
}

TEST_CASE("memory in use is inactive_anon, active_anon and unevictable, without page cache") {
  CHECK(usage_bytes({4096, 8192, 4096, 1, 1}) == 16384.0);
  CHECK(usage_bytes({0, 0, 0, kAbsent, kAbsent}) == 0.0);
}

TEST_CASE("memory with page cache also includes inactive_file and active_file") {
  CHECK(usage_with_page_cache_bytes({4096, 8192, 4096, 100, 20}) == 16504.0);
}

TEST_CASE("memory is unknown, not zero, if the kernel lacks a part") {
  CHECK_FALSE(usage_bytes({4096, 8192, kAbsent, 0, 0}));
  CHECK_FALSE(usage_with_page_cache_bytes({4096, 8192, 0, 0, kAbsent}));
}
