// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::knob;
using cgroup::Version;

namespace {

Value value(std::string_view knob, std::string_view text) { return *parse_value(*find_knob(knob), text); }

// What is wrong with it; empty: nothing.
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

std::string back(std::string_view knob, const Texts& texts, Version version) {
  Result<Value> decoded = decode(*find_knob(knob), texts, version);
  return decoded ? spell(*find_knob(knob), *decoded) : decoded.error().message();
}

}  // namespace

TEST_CASE("an unknown knob is an error that names the nearest") {
  CHECK(knob_named("cpu.maxx").error().message() == "'cpu.maxx' is not a knob, did you mean 'cpu.max'?");
  CHECK(knob_named("io.max").error().message().find("is not a knob") != std::string::npos);
}

TEST_CASE("a value of each form is spelled as it was read") {
  struct Row {
    const char *knob, *text, *spelled;
  };
  for (Row row : {Row{"cpu.max", "20000 100000", "20000 100000"}, Row{"cpu.max", "max", "max 100000"},
                  Row{"cpu.max", "max 50000", "max 50000"}, Row{"memory.high", "max", "max"}, Row{"memory.max", "4096", "4096"},
                  Row{"cpu.shares", "1024", "1024"}, Row{"cpu.idle", "1", "1"}, Row{"cpuset.cpus", "3,0-1", "0-1,3"}}) {
    CAPTURE(row.knob);
    CHECK(spell(*find_knob(row.knob), value(row.knob, row.text)) == row.spelled);
  }
}

TEST_CASE("a value that is none says what was expected") {
  for (const char* text : {"", "x", "20000", "20000 ", "999 100000", "20000 999", "20000 1000001", "20000 100000 1", "-1 100000"}) {
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

TEST_CASE("the stricter of two values leaves the cgroup less, or others more") {
  CHECK(stricter("cpu.max", "10000 100000", "20000 100000"));
  CHECK(stricter("cpu.max", "10000 100000", "10000 50000"));
  CHECK(stricter("cpu.max", "1000000 100000", "max"));
  CHECK_FALSE(stricter("cpu.max", "max", "max 50000"));
  CHECK(stricter("memory.high", "4096", "max"));
  CHECK(stricter("cpuset.cpus", "0-1", "4-7"));
  CHECK(stricter("cpu.idle", "1", "0"));
  CHECK(stricter("memory.min", "8192", "4096"));
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
                      {"cpu.idle", "1", {"1"}, {"1"}}};
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

TEST_CASE("v1's largest number of pages is no limit, and memory goes by whole pages") {
  CHECK(back("memory.max", {"9223372036854771712"}, Version::v1) == "max");
  CHECK(kernel("memory.max", "10000000", Version::v2) == Texts{"9998336"});
}

TEST_CASE("what the kernel cannot have said is an error") {
  CHECK(back("cpu.max", {"x 100000"}, Version::v2) == "the kernel says 'x' of cpu.max");
  CHECK(back("cpu.max", {"20000"}, Version::v1).find("not read whole") != std::string::npos);
  CHECK(back("memory.high", {"4096"}, Version::v1).find("not read whole") != std::string::npos);
}
