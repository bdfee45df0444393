// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "core/host/hook_response.hpp"
#include "core/host/hook_text.hpp"

using namespace koord;
using namespace koord::host;

namespace {

bool sound(std::string_view field, std::string_view value) { return check_hook_field(field, value).has_value(); }
std::string complaint(std::string_view field, std::string_view value) {
  return check_hook_field(field, value).error().message();
}
koord_str str(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

TEST_CASE("a hook sets these fields, to values that a runtime takes") {
  CHECK(sound("linux.cpu.shares", "1024"));
  CHECK(sound("linux.cpu.quota", "-1"));
  CHECK(sound("linux.cpu.quota", "20000"));
  CHECK(sound("linux.cpuset.cpus", "0-3,8"));
  CHECK(sound("linux.memory.limit", "1073741824"));
  CHECK(sound("linux.cpu.period", "100000"));
  CHECK(sound("linux.cpu.idle", "1"));
  CHECK(sound("linux.cpu.bvt_warp_ns", "-1"));
  CHECK(sound("linux.cpuset.mems", "0-1"));
  CHECK(sound("linux.memory.swap", "-1"));
  CHECK(sound("linux.oom_score_adj", "-1000"));
  CHECK(sound("linux.rdt.closid", "koord-BE"));
  CHECK(sound("linux.net_cls.classid", "0"));
  CHECK(sound("linux.net_cls.classid", "4294967295"));
  CHECK(sound("device:/dev/nvidia0", "c 195:0"));
  CHECK(sound("mount:/run/lock", "/run/lock ro"));
  CHECK(sound("linux.core_sched.group", "group/a b"));
  CHECK(sound("linux.core_sched.group", ""));
  CHECK(sound("env:PATH", ""));
  CHECK(sound("annotation:example.com/a", "b"));
}

TEST_CASE("a value that does not fit says what was expected") {
  CHECK(complaint("linux.cpu.shares", "1") == "linux.cpu.shares is '1', expected a number from 2 to 262144");
  CHECK(complaint("linux.cpu.quota", "10%") == "linux.cpu.quota is '10%', expected a number from 1000, or -1 for none");
  CHECK(complaint("linux.cpuset.cpus", "") == "linux.cpuset.cpus is '', expected a list of CPUs such as \"0-3,8\"");
  CHECK(complaint("linux.cpuset.mems", "x") ==
        "linux.cpuset.mems is 'x', expected a list of NUMA nodes such as \"0-1\"");
  for (const char* name : {"", ".", "..", "a/b"})
    CHECK(complaint("linux.rdt.closid", name).ends_with("expected the name of a directory of resctrl"));
  for (const char* wrong : {"-1", "4294967296", "1:3", "0x10003", " 1", "18446744073709551616"})
    CHECK(complaint("linux.net_cls.classid", wrong) ==
          "linux.net_cls.classid is '" + std::string(wrong) + "', expected a number from 0 to 4294967295");
  for (const std::string& name : {std::string(254, 'a'), std::string("a\nb"), std::string("a\0b", 3)})
    CHECK(complaint("linux.core_sched.group", name)
              .ends_with("expected at most 253 bytes of UTF-8 without control characters"));
  CHECK_FALSE(sound("env:A", std::string_view("a\0b", 3)));
}

TEST_CASE("text that is not UTF-8 is refused: a runtime would refuse the answers of all hooks with it") {
  for (const char* field : {"env:A", "annotation:example.com/a", "linux.core_sched.group", "linux.rdt.closid"}) {
    CAPTURE(field);
    CHECK_FALSE(sound(field, "\xff"));
    CHECK_FALSE(sound(field, "\xed\xa0\x80"));
    CHECK(sound(field, "\xc3\xa9"));
  }
  CHECK(complaint("env:A", "\xff").ends_with("expected at most 65536 bytes of UTF-8 without a NUL"));
  CHECK(sound("env:A", "two\nlines"));
  for (const char* field : {"env:\xff", "env:A\nB", "env:\x1b[2J", "env:A\x7f", "annotation:a\nb", "annotation:\xff"}) {
    CAPTURE(field);
    CHECK_FALSE(sound(field, "1"));
  }
}

TEST_CASE("the error of an unknown field names the nearest one, or all") {
  CHECK(complaint("linux.cpu.share", "2") ==
        "a hook cannot set 'linux.cpu.share', expected perhaps 'linux.cpu.shares'");
  for (const char* field : {"", "env:", "env:A=B", "annotation:", "oom_score_adj"}) {
    CAPTURE(field);
    CHECK(complaint(field, "1").find("env:NAME or annotation:key") != std::string::npos);
  }
}

TEST_CASE("a response keeps the last value of a field, and takes nothing once it is closed") {
  HookResponse response(nullptr);
  const koord_hook_response& table = response.table();
  CHECK(table.set(&table, str("linux.cpu.shares"), str("2")) == KOORD_OK);
  CHECK(table.set(&table, str("linux.cpu.shares"), str("4")) == KOORD_OK);
  CHECK(table.set(&table, str("linux.cpu.shares"), str("x")) == KOORD_E_INVALID);
  CHECK(table.set(nullptr, str("linux.cpu.shares"), str("2")) == KOORD_E_INVALID);
  CHECK(response.close().fields == decltype(HookSettings::fields){{"linux.cpu.shares", "4"}});
  CHECK(table.set(&table, str("linux.cpu.shares"), str("2")) == KOORD_E_DEADLINE);
  CHECK(table.reject(&table, str("late")) == KOORD_E_DEADLINE);
}

TEST_CASE("a response holds a limited number of fields") {
  HookResponse response(nullptr);
  const koord_hook_response& table = response.table();
  for (std::size_t i = 0; i < HookResponse::kMostFields; ++i)
    REQUIRE(table.set(&table, str("env:N" + std::to_string(i)), str("")) == KOORD_OK);
  CHECK(table.set(&table, str("env:ONE_MORE"), str("")) == KOORD_E_AGAIN);
}

TEST_CASE("a limit is multiplied by a factor above 0, and nothing else is") {
  const auto scale_complaint = [](std::string_view field, double factor) {
    return check_hook_scale(field, factor).error().message();
  };
  CHECK(check_hook_scale("linux.cpu.quota", 0.25));
  CHECK(check_hook_scale("linux.memory.limit", 1000));
  CHECK(scale_complaint("linux.cpu.shares", 2) ==
        "a hook cannot scale 'linux.cpu.shares', expected linux.cpu.quota or linux.memory.limit");
  for (const double factor : {0.0, -1.0, 1000.5, std::nan(""), HUGE_VAL}) {
    CAPTURE(factor);
    CHECK(scale_complaint("linux.cpu.quota", factor).ends_with("expected a number above 0, at most 1000"));
  }
  HookResponse response(nullptr);
  const koord_hook_response& table = response.table();
  CHECK(table.scale(&table, str("linux.cpu.quota"), 2) == KOORD_OK);
  CHECK(table.scale(&table, str("linux.cpu.quota"), 0.5) == KOORD_OK);
  CHECK(table.scale(&table, str("linux.cpu.quota"), 0) == KOORD_E_INVALID);
  CHECK(response.close().scales == decltype(HookSettings::scales){{"linux.cpu.quota", 0.5}});
  CHECK(table.scale(&table, str("linux.cpu.quota"), 2) == KOORD_E_DEADLINE);
}

TEST_CASE("the fields of a response have a limited number of bytes together") {
  HookResponse response(nullptr);
  const koord_hook_response& table = response.table();
  const std::string most(64 << 10, 'x');
  for (const char* field : {"env:A", "env:B", "env:C"}) REQUIRE(table.set(&table, str(field), str(most)) == KOORD_OK);
  CHECK(table.set(&table, str("env:D"), str(most)) == KOORD_E_AGAIN);
  CHECK(table.set(&table, str("env:A"), str("short")) == KOORD_OK);  // a shorter value needs fewer bytes
  CHECK(table.set(&table, str("env:D"), str(most)) == KOORD_OK);
  CHECK(response.close().fields.size() == 4);
}

TEST_CASE("a text of a hook is cleaned: at most 1024 bytes of UTF-8 on one line, without control characters") {
  CHECK(clean_hook_text("no device is free") == "no device is free");
  CHECK(clean_hook_text("two\r\nlines\tx") == "two  lines x");
  CHECK(clean_hook_text(std::string_view("a\0b\x1b[2J\x7f\xc2\x9b", 10)) == "a?b?[2J??");
  CHECK(clean_hook_text("\xff\xfe") == "??");
  CHECK(clean_hook_text(std::string(1 << 20, 'x')) == std::string(1024, 'x'));
  CHECK(clean_hook_text(std::string(1023, 'x') + "\xc3\xa9") == std::string(1023, 'x'));
  CHECK(clean_hook_text(std::string(1022, 'x') + "\xc3\xa9y") == std::string(1022, 'x') + "\xc3\xa9");
}

TEST_CASE("a rejection is clean when the response is closed") {
  HookResponse response(nullptr);
  const koord_hook_response& table = response.table();
  CHECK(table.reject(&table, str("no\nroom\x1b]0;\x07")) == KOORD_OK);
  CHECK(response.close().rejection == "no room?]0;?");
}

TEST_CASE(
    "the first field that an answer may not have is logged in one clean line, also if the hook ignores the error") {
  struct Lines : koord_host {
    std::vector<std::string> all = {};
  };
  Lines host{{.struct_size = sizeof(koord_host),
              .abi_major = KOORD_ABI_MAJOR,
              .abi_minor = KOORD_ABI_MINOR,
              .impl = nullptr,
              .get_service = nullptr,
              .log =
                  [](const koord_host* self, std::int32_t, koord_str line) {
                    const_cast<Lines*>(static_cast<const Lines*>(self))->all.emplace_back(line.p, line.n);
                  },
              .set_error = [](const koord_host*, koord_status, koord_str) {}}};
  for (const char* field : {"linux.cpu.shares", "no.such.field"}) {
    HookResponse response(&host);
    const koord_hook_response& table = response.table();
    CHECK(table.set(&table, str(field), str("\x1b[2J")) == KOORD_E_INVALID);
    CHECK(table.scale(&table, str("linux.cpu.quota"), -1) == KOORD_E_INVALID);
    CHECK(table.set(&table, str("linux.cpu.shares"), str("2")) == KOORD_OK);
    CHECK(response.close().fields.size() == 1);
  }
  REQUIRE(host.all.size() == 2);
  CHECK(host.all[0] ==
        "a field of its answer is refused: linux.cpu.shares is '?[2J', expected a number from 2 to 262144");
  CHECK(host.all[1].starts_with("a field of its answer is refused: a hook cannot set 'no.such.field', expected "));
}

TEST_CASE("a third party's hook gives devices and mounts with a grant for each, own hooks give both") {
  const auto status_of = [](HookReach reach, const char* field, const char* value) {
    HookResponse response(nullptr, reach);
    return response.table().set(&response.table(), str(field), str(value));
  };
  using Granted = std::vector<std::string>;
  for (const auto& [is_third_party, granted, devices, mounts] :
       {std::tuple{false, Granted{}, KOORD_OK, KOORD_OK},
        std::tuple{true, Granted{"device", "mount"}, KOORD_OK, KOORD_OK},
        std::tuple{true, Granted{"device"}, KOORD_OK, KOORD_E_DENIED},
        std::tuple{true, Granted{"mount"}, KOORD_E_DENIED, KOORD_OK},
        std::tuple{true, Granted{}, KOORD_E_DENIED, KOORD_E_DENIED}}) {
    const HookReach reach = hook_reach(is_third_party, granted);
    CHECK(status_of(reach, "device:/dev/sda", "b 8:0") == devices);
    CHECK(status_of(reach, "mount:/host", "/ ro") == mounts);
    CHECK(status_of(reach, "env:A", "1") == KOORD_OK);
  }
}
