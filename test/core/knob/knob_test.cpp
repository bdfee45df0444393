// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using cgroup::Version;

namespace {

Value value(std::string_view knob, std::string_view text) { return *parse_value(*find_knob(knob), text); }

// Returns the problem of the value; empty if the value is valid.
std::string complaint(std::string_view knob, std::string_view text) {
  Result<Value> parsed = parse_value(*find_knob(knob), text);
  return parsed ? "" : parsed.error().message();
}

bool stricter(std::string_view knob, std::string_view a, std::string_view b) {
  const Value of_a = value(knob, a), of_b = value(knob, b);
  return is_stricter({*find_knob(knob), of_a}, {*find_knob(knob), of_b});
}

std::string widest_of(std::string_view knob, std::string_view a, std::string_view b) {
  return spell(*find_knob(knob), widest(*find_knob(knob), value(knob, a), value(knob, b)));
}

Texts kernel(std::string_view knob, std::string_view text, Version version) {
  return encode(*find_knob(knob), value(knob, text), version);
}

std::string back(std::string_view knob, const Texts& texts, Version version, std::string_view item = {}) {
  Result<Value> decoded = decode(*find_knob(knob), texts, version, item);
  return decoded ? spell(*find_knob(knob), *decoded) : decoded.error().message();
}

}  // namespace

TEST_CASE("an unknown knob is an error that names the nearest") {
  CHECK(knob_named("cpu.maxx").error().message() == "'cpu.maxx' is not a knob, did you mean 'cpu.max'?");
  CHECK(knob_named("io.maximum.of.all").error().message().find("is not a knob") != std::string::npos);
}

TEST_CASE("a value of each form is written as it was read") {
  struct Row {
    const char *knob, *text, *spelled;
  };
  for (Row row :
       {Row{"cpu.max", "20000 100000", "20000 100000"},
        Row{"cpu.max", "max", "max 100000"},
        Row{"cpu.max", "max 50000", "max 50000"},
        Row{"memory.high", "max", "max"},
        Row{"memory.max", "4096", "4096"},
        Row{"cpu.shares", "1024", "1024"},
        Row{"cpu.idle", "1", "1"},
        Row{"cpuset.cpus", "3,0-1", "0-1,3"},
        Row{"cpu.bvt_warp_ns", "-1", "-1"},
        Row{"memory.wmark_min_adj", "-25", "-25"},
        Row{"io.max", "8:16 wiops=120 rbps=max", "8:16 rbps=max wbps=max riops=max wiops=120"},
        Row{"io.weight", "default 100", "default 100"},
        Row{"io.weight", "8:16 default", "8:16 default"},
        Row{"io.latency", "8:16 target=75000", "8:16 target=75000"},
        Row{"io.cost.qos", "8:16 enable=1 ctrl=user rpct=95.00 rlat=3000",
            "8:16 enable=1 ctrl=user rpct=95.00 rlat=3000"},
        Row{"io.cost.model", "8:16 ctrl=user model=linear rbps=1 wbps=2", "8:16 ctrl=user model=linear rbps=1 wbps=2"},
        Row{"sched_features", "NO_GENTLE_FAIR_SLEEPERS", "NO_GENTLE_FAIR_SLEEPERS"},
        Row{"resctrl.l3", "1=f0;0=ff", "0=ff;1=f0"},
        Row{"resctrl.mb", "10=50;2=100", "2=100;10=50"},
        Row{"resctrl.group", "", "/"},
        Row{"resctrl.group", "koord-be", "koord-be"}}) {
    CAPTURE(row.knob);
    CHECK(spell(*find_knob(row.knob), value(row.knob, row.text)) == row.spelled);
  }
}

TEST_CASE("the error of an invalid value says what was expected") {
  for (const char* text :
       {"", "x", "20000", "20000 ", "999 100000", "20000 999", "20000 1000001", "20000 100000 1", "-1 100000"}) {
    CAPTURE(text);
    CHECK(complaint("cpu.max", text).find("expected \"QUOTA PERIOD\" in microseconds") != std::string::npos);
  }
  CHECK(complaint("memory.high", "1G") == "the value of memory.high is '1G', expected a number from 0 or \"max\"");
  CHECK(complaint("cpu.shares", "1") == "the value of cpu.shares is '1', expected a number from 2 to 262144");
  CHECK(complaint("cpu.weight", "max") == "the value of cpu.weight is 'max', expected a number from 1 to 10000");
  CHECK(complaint("cpu.idle", "2") == "the value of cpu.idle is '2', expected a number from 0 to 1");
  CHECK(complaint("cpuset.cpus", "3-1").find("expected a list such as \"0-3,8\"") != std::string::npos);
  CHECK(complaint("cpuset.cpus", "").find("that is not empty") != std::string::npos);
}

TEST_CASE("a line for a device names the device, and fields that it has") {
  for (const char* text : {"", "sda rbps=1", "8:16", "8:16 rbps", "8:16 rbps=0", "8:16 rbps=-1", "8:16 rbps=1 rbps=2",
                           "8:16 speed=1", "8: rbps=1"}) {
    CAPTURE(text);
    CHECK(complaint("io.max", text).starts_with("the value of io.max is '" + std::string(text)));
  }
  CHECK(complaint("io.max", "8:16 speed=1").find("expected some of rbps=, wbps=, riops=, wiops= behind the device") !=
        std::string::npos);
  CHECK(complaint("io.weight", "default") != "");
  CHECK(complaint("io.weight", "default default") != "");
  CHECK(complaint("io.weight", "8:16 10001") != "");
  CHECK(complaint("io.cost.qos", "8:16 rpct=lots") != "");
  CHECK(complaint("io.cost.model", "8:16 model=cubic") != "");
  CHECK(complaint("sched_features", "no such thing").find("in capitals") != std::string::npos);
}

TEST_CASE("schemata name caches, each once, and no mask is 0") {
  for (const char* text : {"", "ff", "0=", "0=0", "0=fg", "x=ff", "0=ff;0=f"}) {
    CAPTURE(text);
    CHECK(complaint("resctrl.l3", text).find("a mask in hexadecimal, not 0, for each cache") != std::string::npos);
  }
  CHECK(complaint("resctrl.mb", "0=0").find("a number from 1 for each cache") != std::string::npos);
  CHECK(complaint("resctrl.group", "a/b").find("the name of a resctrl group") != std::string::npos);
}

TEST_CASE("each knob has its place, and is proposed at that level only") {
  auto fits = [](std::string_view knob, Level level, std::string_view dir) {
    return bool(check_place(*find_knob(knob), level, dir));
  };
  CHECK(fits("cpu.max", Level::pod, "kubepods/pod1"));
  CHECK_FALSE(fits("cpu.max", Level::node, ""));
  CHECK(fits("vm.min_free_kbytes", Level::node, ""));
  CHECK_FALSE(fits("vm.min_free_kbytes", Level::node, "kubepods"));
  CHECK_FALSE(fits("sched_features", Level::qos, ""));
  CHECK(fits("io.cost.qos", Level::node, ""));
  CHECK_FALSE(fits("io.cost.qos", Level::qos, "kubepods"));
  CHECK(fits("resctrl.l3", Level::node, "koord-be"));
  CHECK_FALSE(fits("resctrl.l3", Level::node, "koord-be/mon_data"));
  CHECK_FALSE(fits("resctrl.mb", Level::node, "info"));
  CHECK(fits("resctrl.group", Level::container, "kubepods/pod1/app"));
  CHECK_FALSE(fits("resctrl.group", Level::qos, "kubepods"));
  CHECK_FALSE(fits("resctrl.made", Level::node, "koord-be"));
}

TEST_CASE("the stricter of two values leaves the cgroup less, or others more") {
  CHECK(stricter("cpu.max", "10000 100000", "20000 100000"));
  CHECK(stricter("cpu.max", "10000 100000", "10000 50000"));
  CHECK(stricter("cpu.max", "1000000 100000", "max"));
  CHECK_FALSE(stricter("cpu.max", "max", "max 50000"));
  CHECK(stricter("memory.high", "4096", "max"));
  CHECK(stricter("cpuset.cpus", "0-1", "4-7"));
  CHECK(stricter("cpu.idle", "1", "0"));
  CHECK(stricter("memory.min", "8192", "4096"));
  CHECK(stricter("io.max", "8:16 rbps=1000", "8:16 rbps=2000"));
  CHECK(stricter("io.max", "8:16 rbps=1000 wbps=1000", "8:16 rbps=1000"));
  CHECK(stricter("io.latency", "8:16 target=10", "8:16 target=20"));
  CHECK(stricter("io.latency", "8:16 target=10", "8:16 target=0"));
  CHECK(stricter("io.weight", "8:16 50", "8:16 100"));
  CHECK(stricter("resctrl.l3", "0=f", "0=ff"));
  CHECK(stricter("resctrl.mb", "0=10;1=10", "0=50;1=50"));
  CHECK(stricter("cpu.bvt_warp_ns", "-1", "2"));
  CHECK(stricter("vm.min_free_kbytes", "90000", "67584"));
}

TEST_CASE("the kernel's value equals an intent if it has all parts of the intent") {
  auto has = [](std::string_view knob, const Texts& now, std::string_view item, std::string_view intent) {
    return same(*find_knob(knob), *decode(*find_knob(knob), now, Version::v2, item), value(knob, intent));
  };
  CHECK(has("io.cost.qos", {"8:16 enable=1 ctrl=user rpct=95.00 rlat=3000 wpct=95.00 wlat=3000 min=1.00 max=10000.00"},
            "8:16", "8:16 enable=1 rpct=95 rlat=3000"));
  CHECK_FALSE(has("io.cost.qos", {"8:16 enable=1 ctrl=user rpct=90.00"}, "8:16", "8:16 rpct=95"));
  CHECK_FALSE(has("io.cost.qos", {""}, "8:16", "8:16 enable=0"));
  CHECK(has("resctrl.l3", {"0=00f;1=fff"}, "", "0=f"));
  CHECK_FALSE(has("resctrl.l3", {"0=00f"}, "", "0=f;1=f"));
  CHECK(has("resctrl.group", {""}, "", "koord-be"));  // threads in other groups are not in it
  CHECK(has("resctrl.group", {"koord-be"}, "", "koord-be"));
  CHECK_FALSE(has("resctrl.group", {"/ koord-be"}, "", "koord-be"));
}

TEST_CASE("the widest of two values allows what both allow") {
  CHECK(widest_of("cpu.max", "10000 100000", "20000 100000") == "20000 100000");
  CHECK(widest_of("memory.max", "max", "4096") == "max");
  CHECK(widest_of("memory.min", "8192", "4096") == "8192");
  CHECK(widest_of("cpuset.cpus", "0-1", "1-3") == "0-3");
}

TEST_CASE("each version of cgroups gets its own form, and reads back as the value") {
  struct Row {
    const char *knob, *text;
    Texts v1, v2;
  };
  const Row rows[] = {{"cpu.max", "20000 100000", {"20000", "100000"}, {"20000 100000"}},
                      {"cpu.max", "max 100000", {"-1", "100000"}, {"max 100000"}},
                      {"memory.max", "max", {"-1"}, {"max"}},
                      {"memory.max", "8192", {"8192"}, {"8192"}},
                      {"cpuset.cpus", "0-1,3", {"0-1,3"}, {"0-1,3"}},
                      {"cpu.weight", "1", {"2"}, {"1"}},
                      {"cpu.weight", "50", {"1287"}, {"50"}},
                      {"cpu.weight", "10000", {"262144"}, {"10000"}},
                      {"cpu.idle", "1", {"1", ""}, {"1", ""}}};
  for (const Row& row : rows) {
    CAPTURE(row.knob);
    CHECK(kernel(row.knob, row.text, Version::v1) == row.v1);
    CHECK(kernel(row.knob, row.text, Version::v2) == row.v2);
    CHECK(back(row.knob, row.v1, Version::v1) == row.text);
    CHECK(back(row.knob, row.v2, Version::v2) == row.text);
  }
}

TEST_CASE("cpu.shares are a weight on v2, with the figures of the kubelet") {
  CHECK(kernel("cpu.shares", "1024", Version::v1) == Texts{"1024"});
  CHECK(kernel("cpu.shares", "1024", Version::v2) == Texts{"39"});
  CHECK(kernel("cpu.shares", "2", Version::v2) == Texts{"1"});
  CHECK(kernel("cpu.shares", "262144", Version::v2) == Texts{"10000"});
}

TEST_CASE("io.max is a line on v2 and four files on v1, which know no word for no limit") {
  CHECK(kernel("io.max", "8:16 rbps=1048576 wiops=120", Version::v2) ==
        Texts{"8:16 rbps=1048576 wbps=max riops=max wiops=120"});
  CHECK(kernel("io.max", "8:16 rbps=1048576 wiops=120", Version::v1) == Texts{"8:16 1048576", "", "", "8:16 120"});
  // v1 takes I/Os per second modulo 2^32; all bits set mean no limit.
  CHECK(kernel("io.max", "8:16 riops=4294967297 wiops=4294967294", Version::v1) ==
        Texts{"", "", "", "8:16 4294967294"});
  CHECK(kernel("io.max", "8:16 rbps=4294967297 wiops=4294967295", Version::v2) ==
        Texts{"8:16 rbps=4294967297 wbps=max riops=max wiops=max"});
  CHECK(back("io.max", {"8:16 1048576", "", "", "8:16 120"}, Version::v1, "8:16") ==
        "8:16 rbps=1048576 wbps=max riops=max wiops=120");
  CHECK(back("io.max", {""}, Version::v2, "8:16") == "8:16 rbps=max wbps=max riops=max wiops=max");
  CHECK(back("io.latency", {""}, Version::v2, "8:16") == "8:16 target=0");
  CHECK(back("io.weight", {""}, Version::v2, "8:16") == "8:16 default");
  CHECK(unset_text(*find_knob("io.max"), Version::v1, "8:16") == "8:16 0");
  CHECK(unset_text(*find_knob("io.max"), Version::v2, "8:16") == "8:16 rbps=max wbps=max riops=max wiops=max");
}

TEST_CASE("in a file with items one is read and the others are ignored") {
  CHECK(item_of(*find_knob("io.weight"), "default 100\n8:16 200\n8:160 5\n", "8:16") == "8:16 200");
  CHECK(item_of(*find_knob("io.weight"), "default 100\n8:16 200\n", "default") == "default 100");
  CHECK(item_of(*find_knob("io.weight"), "default 100\n", "8:16") == "");
  CHECK(item_of(*find_knob("sched_features"), "GENTLE NO_WAKEUP TTWU\n", "WAKEUP") == "NO_WAKEUP");
  CHECK(item_of(*find_knob("sched_features"), "GENTLE NO_WAKEUP TTWU\n", "TTWU") == "TTWU");
  CHECK(item_of(*find_knob("sched_features"), "GENTLE\n", "TTWU") == "");
}

TEST_CASE("v1's largest number of pages means no limit, and memory limits are whole pages") {
  CHECK(back("memory.max", {"9223372036854771712"}, Version::v1) == "max");
  CHECK(back("memory.max", {"9223372036854710272"}, Version::v1) == "max");  // the value for no limit with 64 KiB pages
  CHECK(kernel("memory.max", "10000000", Version::v2) == Texts{"9998336"});
}

TEST_CASE("text that the kernel cannot produce is an error") {
  CHECK(back("cpu.max", {"x 100000"}, Version::v2) == "the kernel says 'x' of cpu.max");
  CHECK(back("cpu.max", {"20000"}, Version::v1).find("not read whole") != std::string::npos);
  CHECK(back("memory.swap.max", {"4096"}, Version::v1).find("not read whole") != std::string::npos);
}

TEST_CASE("every weight is kept by the shares that cgroup v1 has for it") {
  const Knob& weight = *find_knob("cpu.weight");
  for (std::int64_t amount = 1; amount <= 10000; ++amount)
    REQUIRE(decode(weight, encode(weight, Value{amount}, Version::v1), Version::v1)->amount == amount);
}
