// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/ctl/predict_view.hpp"

using koord::ctl::render_predictions;

namespace {

std::string render(const std::string& answer) {
  auto rendered = render_predictions(answer);
  REQUIRE(rendered);
  return *rendered;
}

}  // namespace

TEST_CASE("a subject's row has what it uses, what it peaks at, and how that came true") {
  const std::string amounts =
      R"("p60": {"cpuCores": 1, "memoryBytes": 1048576}, "p90": {}, "p95": {"cpuCores": 2, "memoryBytes": 2097152},
      "p98": {"cpuCores": 3, "memoryBytes": 3145728}, "max": {"cpuCores": 4, "memoryBytes": 4194304})";
  CHECK(
      render(
          R"({"predictions": [{"subject": "pod/u1", "pod": "shop/web", "since": 1767322800, "samples": 1440, "expired": false,
      "actual": {"cpuCores": 0.5, "memoryBytes": 524288}, "percentiles": {)" +
          amounts + R"(}},
    {"subject": "node", "since": 1767322800, "samples": 9, "expired": true, "actual": {"cpuCores": 0.5, "memoryBytes": 524288},
      "percentiles": {)" +
          amounts +
          R"(}, "score": {"samples": 9, "cpuCoverage": 0.995, "memoryCoverage": 1, "cpuPeakRatio": 1.124}}]})") ==
      "SUBJECT   SINCE                          SAMPLES  CPU NOW    P60    P95    P98    MAX         HELD  MEM NOW     P60     P95     P98     MAX    HELD\n"
      "shop/web  2026-01-02 03:00:00               1440    0.500  1.000  2.000  3.000  4.000            -    512Ki  1.00Mi  2.00Mi  3.00Mi  4.00Mi       -\n"
      "node      2026-01-02 03:00:00 (expired)        9    0.500  1.000  2.000  3.000  4.000  99.5% 1.12x    512Ki  1.00Mi  2.00Mi  3.00Mi  4.00Mi  100.0%\n"
      "\nPREDICTOR  CPU TO LEND  MEM TO LEND  CPU PEAK  MEM PEAK  OF\n");
}

TEST_CASE("a predictor's row says what it leaves out, or why it has nothing; what troubles learning is below") {
  const std::string text = render(R"({"production": [
    {"predictor": "pod", "reclaimable": {"cpuCores": 1.5, "memoryBytes": 1073741824}, "peak": {"cpuCores": 2, "memoryBytes": 0},
     "pods": 7, "unlearnt": 2, "cold": 1},
    {"predictor": "priority", "problem": "nothing was learnt of system yet"}], "trainingProblem": "no pods"})");
  CHECK(
      text.find(
          "pod              1.500       1.00Gi     2.000         0  pods: 7, nothing learnt yet of 2, too little of 1\n") !=
      std::string::npos);
  CHECK(text.find("priority             -            -         -         -  nothing was learnt of system yet\n") !=
        std::string::npos);
  CHECK(text.ends_with("\nno pods\n"));
}

TEST_CASE("an answer that is not a JSON object is an error") { CHECK_FALSE(render_predictions("[]")); }
