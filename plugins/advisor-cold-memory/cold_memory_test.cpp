// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>

#include "core/base/file.hpp"
#include "plugins/advisor-cold-memory/idle_page_stats.hpp"
#include "plugins/advisor-cold-memory/memory_pages.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::cold_memory;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

const std::string kKidled = "sys/kernel/mm/kidled";
const std::string kDamon = "sys/kernel/mm/damon/admin/kdamonds";

// Returns a file in the kernel's format, with `n` bytes in each bucket of the row cfei and twice as many in dfei.
std::string idle_stats(const std::string& period, const std::string& n, const char* hierarchy = "1") {
  const auto row = [](const std::string& name, const std::string& value) {
    std::string text = "  " + name;
    for (int i = 0; i < 8; ++i) text += "            " + value;
    return text + "\n";
  };
  std::string text =
      "# version: 1.0\n# page_scans: 24\n# slab_scans: 0\n# scan_period_in_seconds: " + period +
      "\n# use_hierarchy: " + hierarchy +
      "\n# buckets: 1,2,5,15,30,60,120,240\n#\n#   _-----=> clean/dirty\n#  / _----=> swap/file\n# | / _---=> evict/unevict\n"
      "# || / _--=> inactive/active\n# ||| / _-=> slab\n# |||| /\n# |||||      [1,2)      [2,5)     [5,15)    [15,30)    [30,60)   "
      "[60,120)  [120,240) [240,+inf)\n";
  text += row("csei", "999") + row("dsei", "999") + row("cfei", n) + row("dfei", std::to_string(2 * std::stoul(n)));
  for (const char* name : {"csui", "dsui"}) text += row(name, "999");
  for (const char* name : {"cfui", "dfui"}) text += row(name, "0");
  for (const char* name : {"csea", "dsea", "cfea", "dfea", "csua", "dsua", "cfua", "dfua", "slab"})
    text += row(name, "999");
  return text;
}

void add_kidled(FakeNode& node, const char* period = "0\n", const char* hierarchy = "0\n") {
  node.write(kKidled + "/scan_period_in_seconds", period);
  node.write(kKidled + "/use_hierarchy", hierarchy);
  node.write("cgroup/memory/memory.idle_page_stats", idle_stats("5", "1000"));
  node.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 900 kB\n");
}

// Creates the files that the kernel would create when the numbers are written.
void add_damon(FakeNode& node) {
  const std::string context = kDamon + "/0/contexts/0", scheme = context + "/schemes/0";
  for (const char* name : {"/nr_kdamonds", "/0/contexts/nr_contexts"}) node.write(kDamon + name, "0\n");
  for (const char* name :
       {"/operations", "/monitoring_attrs/intervals/sample_us", "/monitoring_attrs/intervals/aggr_us",
        "/monitoring_attrs/intervals/update_us", "/monitoring_attrs/nr_regions/min", "/monitoring_attrs/nr_regions/max",
        "/targets/nr_targets", "/targets/0/regions/nr_regions", "/targets/0/regions/0/start",
        "/targets/0/regions/0/end", "/schemes/nr_schemes"})
    node.write(context + name, "0\n");
  for (const char* name : {"/action", "/access_pattern/sz/max", "/access_pattern/nr_accesses/max",
                           "/access_pattern/age/min", "/access_pattern/age/max"})
    node.write(scheme + name, "0\n");
  node.write(scheme + "/tried_regions/total_bytes", "0\n");
  node.write(kDamon + "/0/state", "off\n");
  node.write(kDamon + "/0/pid", "77\n");
  node.write("proc/iomem",
             "00000000-00000fff : Reserved\n00100000-001fffff : System RAM\n  00110000-0011ffff : Kernel code\n");
  node.write("proc/kpageflags", "");
  node.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 0 kB\n");
}

struct ColdMemoryFixture {
  explicit ColdMemoryFixture(const char* config = "{}") : host(node, config) {}
  std::string file(const std::string& path) const { return *koord::read_file(node.path(path)); }
  std::string note() {
    const auto bytes = host.store().get("test/switched_on");
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
  }

  FakeNode node{{"cgroup/cpu/", ""}, {"cgroup/memory/", ""}};
  FakeHost host;
  FakeInstance advisor{host, koord_entry_v1()};
};

double cold(const std::string& text, std::chrono::seconds age) {
  const auto pages = parse_idle_page_stats(text, age);
  REQUIRE(pages);
  return pages->bytes;
}

}  // namespace

TEST_CASE("cold memory is the inactive page cache in buckets that are completely old enough") {
  CHECK(cold(idle_stats("5", "1000"), 300s) == 3 * 3000.0);  // the buckets from 60, 120 and 240 periods on
  CHECK(cold(idle_stats("5", "1000"), 301s) == 2 * 3000.0);
  CHECK(cold(idle_stats("120", "1000"), 300s) == 6 * 3000.0);  // the buckets from 5 periods on
  CHECK(cold(idle_stats("5", "1000"), 86400s) == 0.0);
}

TEST_CASE("a file in another format is refused, and the error names what it lacks") {
  CHECK(parse_idle_page_stats("", 300s).error().text == "has no scan period or no buckets");
  CHECK(parse_idle_page_stats("# scan_period_in_seconds: 5\n# buckets: 1,x\n", 300s).error().message() ==
        "'x' is not an unsigned integer");
  CHECK(parse_idle_page_stats("# scan_period_in_seconds: 5\n# buckets: 1,2\ncfei 1\n", 300s).error().text ==
        "a row has fewer values than there are buckets");
  CHECK(parse_idle_page_stats("# scan_period_in_seconds: 5\n# buckets: 1,2\ncfei 1 2\ncfui 1 2\ndfui 1 2\n", 300s)
            .error()
            .text == "lacks one of the rows cfei, dfei, cfui, dfui");
}

TEST_CASE("RAM is the System RAM of iomem, if its addresses are visible") {
  CHECK(parse_system_ram(
            "00001000-0009fbff : System RAM\n000a0000-000bffff : PCI Bus 0000:00\n100000000-63fffffff : System RAM\n"
            "  101000000-1017fffff : Kernel code\n") ==
        std::vector<Range>{{0x1000, 0x9fc00}, {0x100000000, 0x640000000}});
  CHECK(parse_system_ram("00000000-00000000 : System RAM\n").empty());
  CHECK(parse_system_ram("zz-10 : System RAM\n5 : System RAM\n-: \n").empty());
}

TEST_CASE("inactive page cache is on the inactive list and is neither anonymous nor shared memory") {
  constexpr std::uint64_t lru = 1u << 5, active = 1u << 6, anon = 1u << 12, swap_backed = 1u << 14, uptodate = 1u << 3;
  CHECK(is_inactive_file(lru | uptodate));
  CHECK_FALSE(is_inactive_file(lru | active));
  CHECK_FALSE(is_inactive_file(lru | anon | swap_backed));
  CHECK_FALSE(is_inactive_file(lru | swap_backed));
  CHECK_FALSE(is_inactive_file(uptodate));
  CHECK_FALSE(is_inactive_file(0));
}

TEST_CASE("an estimate reads one page in each piece, and every page if there are few") {
  std::vector<std::uint64_t> looked;
  const auto all = [&](std::uint64_t page) {
    looked.push_back(page);
    return std::optional(true);
  };
  CHECK(estimate_bytes({{0, 40960}, {81920, 90112}}, 4096, 100, 1, all) == 49152.0);
  std::vector<std::uint64_t> every(12);
  std::iota(every.begin(), every.begin() + 10, 0);
  every[10] = 20;
  every[11] = 21;
  CHECK(looked == every);
  looked.clear();
  CHECK(estimate_bytes({{0, 4096 * 1000}}, 4096, 10, 1, all) == 4096.0 * 1000);
  CHECK(looked.size() == 10);
}

TEST_CASE("an estimate of a half is near a half, whatever the seed") {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const auto half = estimate_bytes({{0, std::uint64_t{4096} << 20}}, 4096, 16384, seed,
                                     [](std::uint64_t page) { return std::optional(page % 2 == 0); });
    CHECK(*half == doctest::Approx(4096.0 * (1 << 19)).epsilon(0.04));  // five standard errors
  }
}

TEST_CASE("an estimate is unknown if a page cannot be read, and 0 for empty ranges") {
  CHECK_FALSE(estimate_bytes({{0, 8192}}, 4096, 10, 1, [](std::uint64_t) { return std::optional<bool>(); }));
  CHECK(estimate_bytes({}, 4096, 10, 1, [](std::uint64_t) { return std::optional(true); }) == 0.0);
}

TEST_CASE("kidled is switched on once and reset at the end") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node);
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "5");
  CHECK(fixture.file(kKidled + "/use_hierarchy") == "1");
  fixture.node.write(kKidled + "/scan_period_in_seconds", "7\n");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "7\n");
  CHECK(fixture.advisor.stop() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "0");
  CHECK(fixture.file(kKidled + "/use_hierarchy") == "0");
  CHECK(fixture.note().empty());
}

TEST_CASE("if another process has switched kidled on, it stays unchanged") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node, "120\n", "1\n");
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.advisor.stop() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "120\n");
}

TEST_CASE("the next process resets the switches of a process that died") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node, "5\n", "1\n");
  const std::string note = "kidled 0 0 4711";
  static_cast<void>(
      fixture.host.store().put("test/switched_on", std::as_bytes(std::span(note)), std::nullopt).has_value());
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.advisor.stop() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "0");
}

TEST_CASE("an instance with a running successor does not reset the switches") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node);
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  fixture.host.clock().advance(1s);
  FakeInstance successor(fixture.host, koord_entry_v1());
  REQUIRE(successor.init() == KOORD_OK);
  CHECK(fixture.advisor.stop() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "5");
  CHECK(successor.stop() == KOORD_OK);
  CHECK(fixture.file(kKidled + "/scan_period_in_seconds") == "0");
}

TEST_CASE("with kidled, node, pods and containers have cold memory, and memory with hot page cache") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node);
  fixture.node.write("cgroup/memory/pod1/memory.idle_page_stats", idle_stats("5", "100"));
  fixture.node.write(
      "cgroup/memory/pod1/memory.stat",
      "total_inactive_anon 1000\ntotal_active_anon 2000\ntotal_unevictable 0\ntotal_inactive_file 5000\ntotal_active_file 1000\n");
  koord::state::Pod pod;
  pod.uid = pod.name = pod.cgroup_dir = "pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "c1", .cgroup_dir = "pod1/c1"});
  fixture.host.hub().publish({.pods = std::vector{pod}});
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.value("node_memory_cold_page_size") == 9000.0);
  CHECK(fixture.host.value("node_memory_with_hot_page_usage") == 600.0 * 1024 - 9000);
  CHECK(fixture.host.value("pod_memory_cold_page_size", {{"pod_uid", "pod1"}}) == 900.0);
  CHECK(fixture.host.value("pod_memory_with_hot_page_usage", {{"pod_uid", "pod1"}}) == 9000.0 - 900);
  CHECK_FALSE(fixture.host.value("container_memory_cold_page_size"));
  CHECK(fixture.host.capabilities().find("cold_memory_of_pods")->state == koord::service::CapabilityState::supported);
}

TEST_CASE("statistics without the cgroups below give no value for a pod") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node);
  fixture.node.write("cgroup/memory/memory.idle_page_stats", idle_stats("5", "1000", "0"));
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK_FALSE(fixture.host.value("node_memory_cold_page_size"));
}

TEST_CASE("a file in another format fails the tick with its name") {
  ColdMemoryFixture fixture;
  add_kidled(fixture.node);
  fixture.node.write("cgroup/memory/memory.idle_page_stats", "rubbish\n");
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.advisor.collect() == KOORD_E_IO);
  CHECK(fixture.advisor.why().ends_with("memory.idle_page_stats': has no scan period or no buckets"));
}

TEST_CASE("DAMON searches all memory for regions that were not accessed for the age, and is switched off in the end") {
  ColdMemoryFixture fixture(R"({"coldAgeSeconds": 60})");
  add_damon(fixture.node);
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  const std::string context = kDamon + "/0/contexts/0";
  CHECK(fixture.file(kDamon + "/nr_kdamonds") == "1");
  CHECK(fixture.file(kDamon + "/0/state") == "on");
  CHECK(fixture.file(context + "/operations") == "paddr");
  CHECK(fixture.file(context + "/targets/0/regions/0/start") == "1048576");
  CHECK(fixture.file(context + "/targets/0/regions/0/end") == "2097152");
  CHECK(fixture.file(context + "/schemes/0/action") == "stat");
  CHECK(fixture.file(context + "/schemes/0/access_pattern/nr_accesses/max") == "0");
  CHECK(fixture.file(context + "/schemes/0/access_pattern/age/min") == "30");  // 60 s in units of 2 s
  CHECK(fixture.note() == "damon 77");
  CHECK(fixture.host.capabilities().find("cold_memory_of_pods")->detail == "DAMON measures only the node");
  CHECK(fixture.advisor.stop() == KOORD_OK);
  CHECK(fixture.file(kDamon + "/0/state") == "off");
  CHECK(fixture.file(kDamon + "/nr_kdamonds") == "0");
}

TEST_CASE("cold memory is inactive page cache in DAMON's regions, once the regions can be that old") {
  ColdMemoryFixture fixture(R"({"coldAgeSeconds": 60})");
  add_damon(fixture.node);
  const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::string region = kDamon + "/0/contexts/0/schemes/0/tried_regions/0";
  fixture.node.write(region + "/start", std::to_string(2 * page));
  fixture.node.write(region + "/end", std::to_string(6 * page));
  const std::uint64_t cache = 1u << 5, flags[] = {cache, cache, cache, 0, cache, 1u << 5 | 1u << 12};
  fixture.node.write("proc/kpageflags", {reinterpret_cast<const char*>(flags), sizeof flags});
  REQUIRE(fixture.advisor.init() == KOORD_OK);
  fixture.host.clock().advance(59s);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK_FALSE(fixture.host.value("node_memory_cold_page_size"));
  fixture.host.clock().advance(2s);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.file(kDamon + "/0/state") == "update_schemes_tried_regions");
  CHECK(fixture.host.value("node_memory_cold_page_size") == 2.0 * static_cast<double>(page));
  CHECK(fixture.host.series("pod_memory_cold_page_size").empty());
}

TEST_CASE("DAMON that another process uses is not changed, and the reason is reported") {
  ColdMemoryFixture fixture;
  add_damon(fixture.node);
  fixture.node.write(kDamon + "/nr_kdamonds", "1\n");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().find("DAMON is in use by another process") != std::string::npos);
  CHECK(fixture.advisor.why().starts_with("the kernel has no kidled; "));
  CHECK(fixture.file(kDamon + "/0/state") == "off\n");
  CHECK(fixture.file(kDamon + "/nr_kdamonds") == "1\n");
}

TEST_CASE("a kdamond that an earlier process of ours has left is ended, and DAMON is used") {
  ColdMemoryFixture fixture;
  add_damon(fixture.node);
  fixture.node.write(kDamon + "/nr_kdamonds", "1\n");
  const std::string note = "damon 77";
  static_cast<void>(
      fixture.host.store().put("test/switched_on", std::as_bytes(std::span(note)), std::nullopt).has_value());
  CHECK(fixture.advisor.init() == KOORD_OK);
  CHECK(fixture.file(kDamon + "/0/state") == "on");
}

TEST_CASE("if DAMON cannot be set up, all changes are reverted and the reason names the file") {
  ColdMemoryFixture fixture;
  add_damon(fixture.node);
  fixture.node.remove(kDamon + "/0/contexts/0/schemes/0/tried_regions");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why() ==
        "DAMON cannot be switched on: this DAMON does not report regions (added in Linux 6.2)");
  CHECK(fixture.file(kDamon + "/nr_kdamonds") == "0");
  fixture.node.remove(kDamon + "/0/contexts/0/operations");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().find("contexts/0/operations'") != std::string::npos);
}

TEST_CASE("with neither feature in the kernel the plugin is absent, and without permission no memory is visible") {
  ColdMemoryFixture fixture;
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why() == "the kernel has no kidled; the kernel was built without DAMON's sysfs interface");
  add_damon(fixture.node);
  fixture.node.write("proc/iomem", "00000000-00000000 : System RAM\n");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().find("iomem' does not list memory") != std::string::npos);
}
