// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/text.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace koord::verdict;

TEST_CASE("a number below 100 has at most two significant digits") {
  for (const auto& row : {std::pair(0.0, "0"),
                          {0.004, "0.004"},
                          {0.042, "0.04"},
                          {0.42, "0.4"},
                          {4.24, "4.2"},
                          {9.96, "10"},
                          {38.4, "38"},
                          {-3.25, "-3.2"},
                          {1234567.0, "1234567"},
                          {1e300, "1.0e+300"}}) {
    CAPTURE(row.first);
    CHECK(figures(row.first) == row.second);
  }
}

TEST_CASE("an amount has its unit, and an unknown amount is shown as unknown") {
  CHECK(amount(0.042, "ratio") == "4.2 %");
  CHECK(amount(0.0381, "seconds/second") == "38 ms/s");
  CHECK(amount(0.0004, "seconds") == "0.4 ms");
  CHECK(amount(12, "refaults/s") == "12 refaults/s");
  CHECK(amount(kUnknown, "ratio") == "unknown");
  CHECK(amount(std::numeric_limits<double>::infinity(), "ratio") == "unknown");
}

TEST_CASE("the agent's own statistics are put into words, others by their name, unknown bounds are left out") {
  CHECK(felt({"held_up_by_others", "ratio", 0.042, 0.003, 0.01}) ==
        "a request finds the container held up for > 1 ms during 4.2 % of the time (quiet 0.3 %, limit 1.0 %)");
  CHECK(
      felt({"held_up", "ratio", 0.06, 0, 0.01}) ==
      "a request finds the container held up for > 1 ms during 6.0 % of the time, behind its own threads (limit 1.0 %)");
  CHECK(
      felt({"held_up_by_others", "ratio", 1.84, 0.003, 0.01}) ==
      "a request finds the container held up for > 1 ms during 100 % of the time, 1.8 threads at a time (quiet 0.3 %, "
      "limit 1.0 %)");
  CHECK(felt({"lost_throughput", "ratio", 0.22, 0, 0.15}) == "others take 22 % of its throughput (limit 15 %)");
  CHECK(felt({"throttled", "seconds/second", 0.08, 0, 0.01}) == "its CPU quota takes 80 ms/s from it (limit 10 ms/s)");
  CHECK(felt({"throttled_by_others", "ratio", 0.08, kUnknown, 0.01}) ==
        "a CPU quota above it, which others use up, takes 80 ms/s from it (limit 10 ms/s)");
  CHECK(felt({"refault_time", "ratio", 0.08, 0.001, 0.01}) ==
        "it reads pages again that the kernel took from it, for 80 ms/s (quiet 1.0 ms/s, limit 10 ms/s)");
  CHECK(felt({"cycles_per_instruction", "cycles/instruction", 1.8, 1.2, 1.4}) ==
        "it takes 1.8 cycles/instruction (quiet 1.2 cycles/instruction, limit 1.4 cycles/instruction)");
  CHECK(felt({"io_limit_used", "ratio", 0.97, kUnknown, 0.95}) == "it uses 97 % of its own I/O limit (limit 95 %)");
  CHECK(felt({"read_latency", "seconds", 0.0009, 0.0003, kUnknown}) ==
        "its reads take 0.9 ms on average (quiet 0.3 ms)");
  CHECK(felt({"x", "y", 1, kUnknown, kUnknown}) == "x 1.0 y");
}
