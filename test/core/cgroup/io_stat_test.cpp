// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/io_stat.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord::cgroup;

namespace {

IoStat stat(std::uint32_t major, std::uint32_t minor) {
  IoStat made;
  made.major = major;
  made.minor = minor;
  return made;
}

}  // namespace

TEST_CASE("io.stat: bytes and operations of each device") {
  std::vector<IoStat> stats = parse_io_stat("8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=7 dios=1\n"
                                            "259:0 rbytes=0 wbytes=4096 rios=0 wios=1 dbytes=0 dios=0\n");
  REQUIRE(stats.size() == 2);
  IoStat first = stat(8, 16);
  first.read_bytes = 1459200;
  first.write_bytes = 314773504;
  first.discard_bytes = 7;
  first.read_ios = 192;
  first.write_ios = 353;
  first.discard_ios = 1;
  CHECK(stats[0] == first);
  CHECK(stats[1].major == 259);
  CHECK(stats[1].write_bytes == 4096);
}

TEST_CASE("io.stat: a device without values is left out, also in front of another on one line") {
  std::vector<IoStat> stats = parse_io_stat("7:7 7:6 7:5 7:4 rbytes=28672 wbytes=0 rios=22 wios=0\n253:0 \n");
  REQUIRE(stats.size() == 1);
  CHECK(stats[0].minor == 4);
  CHECK(stats[0].read_bytes == 28672);
  CHECK(stats[0].discard_bytes == kAbsent);
}

TEST_CASE("io.stat: only unknown devices, unknown keys and damaged values are left out") {
  std::vector<IoStat> stats = parse_io_stat(
      "(unknown) rbytes=5 wbytes=5\n8:0 cost.usage=9 rbytes=x wbytes=3 rios=-1 wios=max\n8: rbytes=1\n:0 rbytes=1\n"
      "rbytes=1\n");
  IoStat only = stat(8, 0);
  only.write_bytes = 3;
  CHECK(stats == std::vector{only});
}

TEST_CASE("an empty text has no devices") {
  CHECK(parse_io_stat("").empty());
  CHECK(parse_blkio("", "").empty());
  CHECK(parse_blkio("Total 0\n", "Total 0\n").empty());
}

TEST_CASE("blkio: both files together have the values that v2 has in one file") {
  std::vector<IoStat> stats = parse_blkio(
      "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 0\n8:0 Async 12288\n8:0 Discard 512\n8:0 Total 12288\nTotal 12288\n",
      "8:0 Read 1\n8:0 Write 2\n8:0 Discard 3\n8:16 Read 4\nTotal 6\n");
  IoStat first = stat(8, 0);
  first.read_bytes = 4096;
  first.write_bytes = 8192;
  first.discard_bytes = 512;
  first.read_ios = 1;
  first.write_ios = 2;
  first.discard_ios = 3;
  IoStat second = stat(8, 16);
  second.read_ios = 4;
  CHECK(stats == std::vector{first, second});
}

TEST_CASE("blkio: a device without a number is left out") {
  CHECK(parse_blkio("(unknown) Read 4096\n8:0\n8:0 Read\n", "").empty());
}

TEST_CASE("a text with more devices than any machine has is cut") {
  std::string text;
  for (int minor = 0; minor < 5000; ++minor) text += "9:" + std::to_string(minor) + " rbytes=1\n";
  CHECK(parse_io_stat(text).size() == 4096);
}
