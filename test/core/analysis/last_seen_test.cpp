// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "core/analysis/io_analysis.hpp"
#include "core/analysis/last_seen.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

struct Value {
  Time seen{};
};

std::string keys_of(const std::map<char, Value>& values) {
  std::string keys;
  for (const auto& one : values) keys += one.first;
  return keys;
}

const std::map<char, Value> kValues = {
    {'a', {Time(5s)}}, {'b', {Time(7s)}}, {'c', {Time(6s)}}, {'d', {Time(7s)}}, {'e', {Time(6s)}}};

IoSubject reading(const std::string& workload, Subject subject, double mean) {
  return {workload,
          {.subject = subject,
           .streams = {{.device = 1, .requests = 50, .mean = mean, .alone_requests = 50, .alone_mean = mean}}}};
}

}  // namespace

TEST_CASE("those seen last stay of too many values, and of those seen at the same time the first ones") {
  const struct {
    std::size_t most;
    const char* kept;
  } rows[] = {{5, "abcde"}, {4, "bcde"}, {3, "bcd"}, {2, "bd"}, {1, "b"}};
  for (const auto& row : rows) {
    CAPTURE(row.most);
    std::map<char, Value> values = kValues;
    keep_last_seen(values, Time(0s), row.most);
    CHECK(keys_of(values) == row.kept);
  }
}

TEST_CASE("values that were not seen for long go, however few there are") {
  std::map<char, Value> values = kValues;
  keep_last_seen(values, Time(6s), 100);
  CHECK(keys_of(values) == "bcde");
  keep_last_seen(values, Time(8s), 100);
  CHECK(values.empty());
}

TEST_CASE("a node that names ever new workloads does not take the quiet latency of its devices away") {
  IoAnalysis analysis;
  Subject subject = 1;
  for (int second = 0; second < 12; ++second) {
    std::vector<IoSubject> all;
    for (std::size_t i = 0; i < kMaxWorkloads + 100; ++i, ++subject)
      all.push_back(reading("job-" + std::to_string(subject), subject, 0.0003));
    analysis.add(Time(second * 1s), all);
  }
  IoSubject harmed = reading("shop/db", subject, 0.005);
  harmed.window.streams[0].alone_requests = 0;
  harmed.window.streams[0].others = {{SuspectKind::container, 1, 0.25, 50, 0}};
  for (int second = 12; second < 15; ++second) analysis.add(Time(second * 1s), {harmed});
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.standing()[0].victim == subject);
}
