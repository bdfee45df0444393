// SPDX-License-Identifier: Apache-2.0
// The response of a runtime hook with valid and invalid fields, in both runners. The hook gets the same status and
// text, and the agent gets the same settings, even from a child that did not check them.
#include <cmath>

#include "core/child/answers.hpp"
#include "core/host/hook_response.hpp"
#include "core/host/hook_text.hpp"
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct FieldRow {
  std::string field, value;
  koord_status expected;
};

struct FieldAnswer {
  koord_status status;
  std::string text;
  host::HookSettings settings;
};

FieldAnswer answer_of(service::PluginSide& plugin, const FieldRow& row) {
  host::HookResponse response(plugin.host());
  const koord_hook_response& table = response.table();
  error_text(plugin);
  const koord_status status = table.set(&table, str(row.field), str(row.value));
  std::string text = error_text(plugin);
  return {status, std::move(text), response.close()};
}

// The agent's parsing of a child's answer. If `complete` is false, the child has not checked the answer, and is killed.
struct FromChild {
  host::HookSettings settings;
  bool complete;
};

FromChild from_child(const child::Packer& packed) {
  host::HookResponse response(nullptr);
  child::Unpacker given(packed.bytes());
  child::take_adjustments(given, response.table());
  return {response.close(), given.complete()};
}

FromChild settings_from_child(const std::string& field, const std::string& value) {
  child::Packer packed;
  packed.add(std::uint32_t{1}).add(std::string_view(field)).add(std::string_view(value));
  packed.add(std::uint32_t{0}).add(std::uint32_t{0}).add(std::string_view());
  return from_child(packed);
}

const std::string kNul("/dev/a\0b", 8);

const FieldRow kFieldRows[] = {
    {"linux.cpu.shares", "2", KOORD_OK},
    {"linux.cpu.shares", "1", KOORD_E_INVALID},
    {"linux.cpu.sharez", "2", KOORD_E_INVALID},
    {"linux.net_cls.classid", "65539", KOORD_OK},
    {"linux.net_cls.classid", "0", KOORD_OK},
    {"linux.net_cls.classid", "4294967296", KOORD_E_INVALID},
    {"linux.net_cls.classid", "-1", KOORD_E_INVALID},
    {"linux.net_cls.classid", "1:3", KOORD_E_INVALID},
    {"linux.net_cls.classid", kHuge, KOORD_E_INVALID},
    {"device:/dev/infiniband/uverbs0", "c 231:192 0666", KOORD_OK},
    {"device:/dev/sda", "b 8:0", KOORD_OK},
    {"device:/dev/sda", "b 8:0 rw", KOORD_E_INVALID},
    {"device:/dev/sda", "b 4096:0", KOORD_E_INVALID},
    {"device:/dev/sda", "", KOORD_E_INVALID},
    {"device:/dev/../etc/shadow", "c 1:3", KOORD_E_INVALID},
    {"device:/etc/shadow", "c 1:3", KOORD_E_INVALID},
    {"device:/dev/a b", "c 1:3", KOORD_E_INVALID},
    {"device:" + kNul, "c 1:3", KOORD_E_INVALID},
    {"device:/dev/" + kLong, "c 1:3", KOORD_E_INVALID},
    {"mount:/run/lock", "/run/lock", KOORD_OK},
    {"mount:/run/lock", "/run/lock ro", KOORD_OK},
    {"mount:/run/lock", "/run/../etc", KOORD_E_INVALID},
    {"mount:/run/lock", "/run/lock rw", KOORD_E_INVALID},
    {"mount:/run/lock", kNul, KOORD_E_INVALID},
    {"mount:/run/lock", kHuge, KOORD_E_INVALID},
    {"mount:/", "/run/lock", KOORD_E_INVALID},
    {"mount:relative", "/run/lock", KOORD_E_INVALID},
    {"mount:/a b", "/run/lock", KOORD_E_INVALID},
    {"mount:/etc/../..", "/run/lock", KOORD_E_INVALID},
    {"env:A", "two\nlines", KOORD_OK},
    {"env:A", "\xff", KOORD_E_INVALID},
    {"env:A=B", "1", KOORD_E_INVALID},
    {"env:A\nB", "1", KOORD_E_INVALID},
    {"env:\xff", "1", KOORD_E_INVALID},
    {"annotation:a/b", kLong, KOORD_OK},
    {"annotation:a\x1b", "1", KOORD_E_INVALID},
    {"linux.rdt.closid", "..", KOORD_E_INVALID},
    {"linux.core_sched.group", "\xff", KOORD_E_INVALID},
    {"linux.cpu.quota", "999", KOORD_E_INVALID},
    {"linux.cpu.quota", "nan", KOORD_E_INVALID},
};

struct FactorRow {
  std::string field;
  double factor;
  koord_status expected;
};

const FactorRow kFactorRows[] = {
    {"linux.cpu.quota", 1.5, KOORD_OK},
    {"linux.memory.limit", 1000, KOORD_OK},
    {"linux.memory.limit", 1000.5, KOORD_E_INVALID},
    {"linux.cpu.quota", 0, KOORD_E_INVALID},
    {"linux.cpu.quota", -1, KOORD_E_INVALID},
    {"linux.cpu.quota", HUGE_VAL, KOORD_E_INVALID},
    {"linux.cpu.quota", std::nan(""), KOORD_E_INVALID},
    {"linux.cpu.shares", 2, KOORD_E_INVALID},
    {kHuge, 2, KOORD_E_INVALID},
};

FieldAnswer answer_of(service::PluginSide& plugin, const FactorRow& row) {
  host::HookResponse response(plugin.host());
  const koord_hook_response& table = response.table();
  error_text(plugin);
  const koord_status status = table.scale(&table, str(row.field), row.factor);
  std::string text = error_text(plugin);
  return {status, std::move(text), response.close()};
}

FromChild scales_from_child(const std::string& field, double factor) {
  child::Packer packed;
  packed.add(std::uint32_t{0}).add(std::uint32_t{1}).add(std::string_view(field)).add(factor);
  packed.add(std::uint32_t{0}).add(std::string_view());
  return from_child(packed);
}

// Returns the rejection that the agent reads from a child's answer with this text.
std::optional<std::string> rejection_from_child(const std::string& why) {
  child::Packer packed;
  packed.add(std::uint32_t{0}).add(std::uint32_t{0}).add(std::uint32_t{1}).add(std::string_view(why));
  return from_child(packed).settings.rejection;
}

}  // namespace

TEST_CASE("a hook in the agent and one in a child set the same fields, and get the same answer to a bad one") {
  BothRunners both;
  for (const FieldRow& row : kFieldRows) {
    const std::string field = row.field.substr(0, 100), value = row.value.substr(0, 100);
    CAPTURE(field);
    CAPTURE(value);
    const FieldAnswer near_answer = answer_of(both.near_host.context, row),
                      far_answer = answer_of(both.far.remote(), row);
    CHECK(near_answer.status == row.expected);
    CHECK(far_answer.status == near_answer.status);
    CHECK(far_answer.text == near_answer.text);
    CHECK(near_answer.text.empty() == (row.expected == KOORD_OK));
    CHECK(near_answer.text.size() < 600);
    CHECK(far_answer.settings.fields == near_answer.settings.fields);
    const FromChild taken = settings_from_child(row.field, row.value);
    CHECK(taken.settings.fields == near_answer.settings.fields);
    CHECK(taken.complete == (row.expected == KOORD_OK));
  }
}

TEST_CASE("a hook in the agent and one in a child scale the same fields by the same factors") {
  BothRunners both;
  for (const FactorRow& row : kFactorRows) {
    const std::string field = row.field.substr(0, 100);
    CAPTURE(field);
    CAPTURE(row.factor);
    const FieldAnswer near_answer = answer_of(both.near_host.context, row),
                      far_answer = answer_of(both.far.remote(), row);
    CHECK(near_answer.status == row.expected);
    CHECK(far_answer.status == near_answer.status);
    CHECK(far_answer.text == near_answer.text);
    CHECK(far_answer.settings.scales == near_answer.settings.scales);
    const FromChild taken = scales_from_child(row.field, row.factor);
    CHECK(taken.settings.scales == near_answer.settings.scales);
    CHECK(taken.complete == (row.expected == KOORD_OK));
  }
}

TEST_CASE("the text of a rejection is the same and clean from a hook in the agent and from a child") {
  for (const std::string& why : {std::string("no room"), std::string("no\nroom\x1b[2J"), std::string("\xff\xfe"),
                                 std::string("a\0b", 3), std::string(1 << 20, 'x')}) {
    host::HookResponse response(nullptr);
    const koord_hook_response& table = response.table();
    REQUIRE(table.reject(&table, str(why)) == KOORD_OK);
    const std::optional<std::string> near_text = response.close().rejection;
    CHECK(near_text == host::clean_hook_text(why));
    CHECK(rejection_from_child(why) == near_text);
  }
}
