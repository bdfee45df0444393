// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/predict/score.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

const Time kBegin = Time(1000h);
constexpr Amounts kPredicted{2000, 1000};  // 2 cores, 1000 bytes

}  // namespace

TEST_CASE("usage is compared with the prediction of up to an hour before, not with later ones") {
  Score score;
  score.add(kBegin, {1, 500}, kPredicted);
  score.add(kBegin + 1min, {3, 500}, Amounts{9000, 9000});
  score.add(kBegin + 2min, {2, 500}, Amounts{9000, 9000});
  CHECK(score.report().samples == 2);
  CHECK(score.report().cpu_coverage == 0.5);
  CHECK(score.report().memory_coverage == 1.0);
}

TEST_CASE("the ratio of predicted to actual peaks is given for whole hours") {
  Score score;
  score.add(kBegin, {1, 500}, kPredicted);
  score.add(kBegin + 30min, {1.6, 400}, kPredicted);
  CHECK_FALSE(score.report().cpu_ratio);
  score.add(kBegin + 60min, {1, 500}, kPredicted);
  CHECK(score.report().cpu_ratio == doctest::Approx(2 / 1.6));
  CHECK(score.report().memory_ratio == doctest::Approx(2.5));
  score.add(kBegin + 90min, {2.4, 500}, kPredicted);
  score.add(kBegin + 120min, {1, 500}, kPredicted);
  CHECK(score.report().cpu_ratio == doctest::Approx(4 / (1.6 + 2.4)));
}

TEST_CASE("nothing is judged where nothing was predicted") {
  Score score;
  score.add(kBegin, {1, 500}, std::nullopt);
  score.add(kBegin + 1min, {1, 500}, std::nullopt);
  CHECK(score.report() == ScoreReport{});
}

TEST_CASE("scores older than a day do not count any more") {
  Score score;
  score.add(kBegin, {1, 500}, kPredicted);
  score.add(kBegin + 1min, {9, 500}, kPredicted);
  score.add(kBegin + 20h, {1, 500}, kPredicted);
  score.add(kBegin + 20h + 1min, {1, 500}, kPredicted);
  CHECK(score.report().cpu_coverage == 0.5);
  score.add(kBegin + 24h + 1min, {1, 500}, kPredicted);
  CHECK(score.report().cpu_coverage == 1.0);
}

TEST_CASE("a gap is not judged: samples after it begin a new hour") {
  Score score;
  score.add(kBegin, {1, 500}, kPredicted);
  score.add(kBegin + 5h, {9, 500}, kPredicted);
  CHECK(score.report().samples == 0);
}
