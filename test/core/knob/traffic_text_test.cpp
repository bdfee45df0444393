// SPDX-License-Identifier: Apache-2.0
#include "core/knob/traffic_text.hpp"

#include <doctest/doctest.h>

#include "core/knob/traffic_messages.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

const Knob& classes_knob() { return *find_knob("tc.classes"); }

}  // namespace

TEST_CASE("tc.classes: all classes of an interface, sorted by number") {
  const char* text = "1=125000000:125000000:0;2=1000:125000000:1;40000=2500:2500:7";
  const auto value = parse_value(classes_knob(), text);
  REQUIRE(value);
  CHECK(spell(classes_knob(), *value) == text);
  CHECK(traffic_of(*value).at(40000) == TrafficClass{2500, 2500, 7});
  CHECK(parse_value(classes_knob(), "2=1000:125000000:1;40000=2500:2500:7;1=125000000:125000000:0")->fields ==
        value->fields);
  CHECK(same(classes_knob(), *decode(classes_knob(), {text}, cgroup::Version::v2), *value));
  CHECK(decode(classes_knob(), {""}, cgroup::Version::v2)->fields.empty());
}

TEST_CASE("tc.classes: hostile values are refused with what is expected") {
  for (const char* wrong :
       {"", "1=1000:1000:0", "2=1000:1000:0", "1=1000:1000:0;2=1000:1000", "1=1000:1000:0;2=1000:1000:8",
        "1=1000:1000:0;2=2000:1000:0", "1=1000:1000:0;2=999:1000:0", "1=1000:1000:0;2=1000:1000000000001:0",
        "1=1000:1000:0;2=1000:1000:0;2=1000:1000:0", "0=1000:1000:0;1=1000:1000:0;2=1000:1000:0",
        "1=1000:1000:0;2=1000:1000:0;65535=1000:1000:0", "1=1000:1000:0;2=1000:1000:0;-3=1000:1000:0", "eth0",
        "1=;2="}) {
    CAPTURE(wrong);
    const auto value = parse_value(classes_knob(), wrong);
    REQUIRE_FALSE(value);
    CHECK(value.error().message().find("MINOR=RATE:CEIL:PRIORITY") != std::string::npos);
  }
  std::string many = "1=1000:1000:0;2=1000:1000:0";
  for (int minor = 3; minor < 5000; ++minor) many += ";" + std::to_string(minor) + "=1000:1000:0";
  CHECK_FALSE(parse_value(classes_knob(), many));
}

TEST_CASE("tc.classes is a knob of the node with the name of an interface") {
  CHECK(check_place(classes_knob(), Level::node, "eth0"));
  for (const char* wrong : {"", "..", "a/b", "a b", "a\n", "eth0:1", "an-interface-with-a-long-name"}) {
    CAPTURE(wrong);
    CHECK_FALSE(check_place(classes_knob(), Level::node, wrong));
  }
  CHECK_FALSE(check_place(classes_knob(), Level::pod, "eth0"));
}

TEST_CASE("answers of netlink that are cut, of others, or malformed contain nothing") {
  const std::string message = set_class(3, 7, {1000, 5'000'000'000, 2}, 9);
  TrafficAnswer whole;
  read_answer(message, 9, whole);
  REQUIRE(whole.objects.size() == 1);
  CHECK(whole.objects[0].interface == 3);
  CHECK(whole.objects[0].handle == (kTrafficHandle | 7));
  CHECK(whole.objects[0].of_class == TrafficClass{1000, 5'000'000'000, 2});
  TrafficAnswer of_others;
  read_answer(message, 10, of_others);
  CHECK(of_others.objects.empty());
  for (std::size_t size = 0; size < message.size(); ++size) {
    CAPTURE(size);
    TrafficAnswer cut;
    read_answer(message.substr(0, size), 9, cut);
    CHECK(cut.objects.empty());
    CHECK_FALSE(cut.is_done);
  }
}
