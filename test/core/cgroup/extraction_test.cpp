// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/extraction.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace koord::cgroup;

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

using Values = std::vector<std::int64_t>;

Values extract(Format format, std::vector<KeySpec> keys, std::string_view text) {
  Extraction extraction(format);
  Values values(keys.size(), 12345);
  for (std::size_t slot = 0; slot < keys.size(); ++slot) extraction.add(keys[slot], slot);
  extraction.apply(text, values);
  return values;
}

std::int64_t word(std::string_view text, Conversion conversion = Conversion::none) {
  return extract(Format::words, {{"k", 0, "0", conversion}}, text)[0];
}

}  // namespace

TEST_CASE("a single value: a number, \"max\", and what is neither") {
  CHECK(word("42\n") == 42);
  CHECK(word("-1\n") == -1);
  CHECK(word("max\n") == -1);
  CHECK(word("18446744073709551615\n") == kLargest);
  for (const char* bad : {"", "\n", "x\n", "12x\n", "-\n", "-99999999999999999999\n"}) CHECK(word(bad) == kAbsent);
}

TEST_CASE("cpu.max: quota and period by position, \"max\" means no quota") {
  std::vector<KeySpec> keys = {{"quota_us", 0, "0"}, {"period_us", 0, "1"}};
  CHECK(extract(Format::words, keys, "20000 100000\n") == Values{20000, 100000});
  CHECK(extract(Format::words, keys, "max 100000\n") == Values{-1, 100000});
  CHECK(extract(Format::words, keys, "20000\n") == Values{20000, kAbsent});
  CHECK(extract(Format::words, keys, "") == Values{kAbsent, kAbsent});
}

TEST_CASE("conversions give the promised unit") {
  CHECK(word("7", Conversion::micro_to_nano) == 7000);
  CHECK(word("9223372036854775807", Conversion::micro_to_nano) == kLargest);
  CHECK(word("9223372036854771712", Conversion::huge_is_unlimited) == -1);
  // v1's value for no limit with pages of 64 KiB
  CHECK(word("9223372036854710272", Conversion::huge_is_unlimited) == -1);
  CHECK(word("1073741824", Conversion::huge_is_unlimited) == 1073741824);
  CHECK(word("x", Conversion::micro_to_nano) == kAbsent);
}

TEST_CASE("a weight becomes the shares it was made from") {
  CHECK(word("1", Conversion::weight_to_shares) == 2);
  CHECK(word("100", Conversion::weight_to_shares) == 2597);
  CHECK(word("10000", Conversion::weight_to_shares) == 262144);
  CHECK(word("0", Conversion::weight_to_shares) == 2);  // the weight of an idle cgroup
}

TEST_CASE("flat keys are found by their whole name, in any order") {
  std::vector<KeySpec> keys = {{"file", 0, "file"}, {"anon", 0, "anon"}, {"gone", 0, "gone"}};
  CHECK(extract(Format::flat, keys, "anon_thp 1\nanon 2\nfile_dirty 3\nfile 4\n") == Values{4, 2, kAbsent});
  CHECK(extract(Format::flat, keys, "anon\nanon 2x\nfile \n") == Values{kAbsent, kAbsent, kAbsent});
  CHECK(extract(Format::flat, keys, "file 4") == Values{4, kAbsent, kAbsent});
}

TEST_CASE("a flat file that changes its order or loses a key is read right again") {
  Extraction extraction(Format::flat);
  extraction.add({"a", 0, "a"}, 0);
  extraction.add({"b", 0, "b"}, 1);
  Values values(2);
  auto read = [&](std::string_view text) {
    extraction.apply(text, values);
    return values;
  };
  CHECK(read("b 2\na 1\n") == Values{1, 2});
  CHECK(read("a 3\nb 4\n") == Values{3, 4});
  CHECK(read("a 5\n") == Values{5, kAbsent});
  CHECK(read("b 7\na 6\n") == Values{6, 7});
}

TEST_CASE("the same key asked for twice is given twice") {
  CHECK(extract(Format::flat, {{"a", 0, "a"}, {"a", 0, "a"}}, "a 1\n") == Values{1, 1});
}

TEST_CASE("memory.numa_stat of v2 is in bytes") {
  std::vector<KeySpec> keys = {{"N0", 0, "anon"}, {"N1", 0, "anon"}, {"N10", 0, "anon"}};
  CHECK(extract(Format::numa, keys, "anon N0=4096 N1=8192\nfile N0=1 N1=2\n") == Values{4096, 8192, kAbsent});
  CHECK(extract(Format::numa, keys, "anon N0 N1= N10=x\n") == Values{kAbsent, kAbsent, kAbsent});
}

TEST_CASE("memory.numa_stat of v1 is in pages, with the children in the hierarchical lines") {
  std::vector<KeySpec> keys = {{"N0", 0, "hierarchical_anon", Conversion::pages_to_bytes}};
  Values values = extract(Format::numa, keys, "anon=1 N0=1\nhierarchical_anon=22 N0=20 N1=2\n");
  CHECK(values[0] > 0);
  CHECK(values[0] % 20 == 0);
}

TEST_CASE("two lines of memory.numa_stat are added, and without one of them the sum is unknown") {
  std::vector<KeySpec> keys = {{"anon N0", 0, "inactive_anon active_anon"},
                               {"anon N1", 0, "inactive_anon active_anon"}};
  CHECK(extract(Format::numa, keys, "active_anon N0=1 N1=2\ninactive_anon N0=30 N1=40\n") == Values{31, 42});
  CHECK(extract(Format::numa, keys, "active_anon N0=1 N1=2\ninactive_anon N0=30\n") == Values{31, kAbsent});
  CHECK(extract(Format::numa, keys, "active_anon N0=1 N1=2\n") == Values{kAbsent, kAbsent});
  CHECK(extract(Format::numa, keys, "active_anon N0=9223372036854775807\ninactive_anon N0=1\n")[0] == kLargest);
}

TEST_CASE("pressure: averages in hundredths, totals in microseconds") {
  std::vector<KeySpec> keys = {{"a", 0, "some avg10"}, {"b", 0, "some total"}, {"c", 0, "full avg300"}};
  std::string_view text =
      "some avg10=0.36 avg60=0.97 avg300=0.73 total=11548450\nfull avg10=0.00 avg60=0.00 avg300=12.05 "
      "total=0\n";
  CHECK(extract(Format::pressure, keys, text) == Values{36, 11548450, 1205});
}

TEST_CASE("pressure without a full line, and damaged pressure, have no value") {
  std::vector<KeySpec> keys = {{"a", 0, "some avg10"}, {"c", 0, "full avg10"}};
  CHECK(extract(Format::pressure, keys, "some avg10=100.00 avg60=0.97\n") == Values{10000, kAbsent});
  for (const char* bad :
       {"some avg10=1\n", "some avg10=.10\n", "some avg10=1.1\n", "some avg10=1.-1\n", "some\n", "\n", ""})
    CHECK(extract(Format::pressure, keys, bad) == Values{kAbsent, kAbsent});
}
