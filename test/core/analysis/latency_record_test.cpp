// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/latency_record.hpp"

#include <doctest/doctest.h>

#include "core/analysis/io_analysis.hpp"
#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kDisk = 254 << 20;
const Time kBegin(1'000'000s);

SavedLatency latency(const std::string& workload, Time seen = kBegin) {
  return {workload, seen, kDisk, "vda", true, {0.001, 12.5, 30}, {0.25, 3, 20}};
}

// A container with 200 reads per second of this latency. `is_alone`: no other container had requests.
IoSubject reader(double ms, bool is_alone, const std::string& workload = "shop/db/app") {
  IoStream stream{.device = kDisk, .requests = 200, .mean = ms / 1000, .p99 = 2 * ms / 1000};
  if (is_alone) {
    stream.alone_requests = 200;
    stream.alone_mean = ms / 1000;
  } else {
    stream.others = {{.subject = 2, .seconds = 0.2 * ms, .requests = 180, .usage = 1e6}};
  }
  return {workload, {.subject = 1, .streams = {stream}}};
}

std::string standing(const IoAnalysis& analysis) {
  std::string texts;
  for (const Verdict& verdict : analysis.standing())
    texts += std::string(name_of(verdict.kind)) + " " + std::string(verdict.statistic.name) + ";";
  return texts;
}

}  // namespace

TEST_CASE("latencies read back as they were written, those seen last first, as many as fit") {
  const std::vector<SavedLatency> all = {latency("a", kBegin), latency("b", kBegin + 1s)};
  const ReadLatencies read = read_latencies(write_latencies(all));
  CHECK(read.problems.empty());
  CHECK(read.latencies == std::vector<SavedLatency>{all[1], all[0]});
  CHECK(read_latencies(write_latencies(all, 150)).latencies.size() == 1);
  SavedLatency nameless = latency("c");
  nameless.device_name.clear();
  CHECK(write_latencies({nameless}).empty());
}

TEST_CASE("a record of latencies that is damaged or impossible is left out by itself") {
  const std::string good = write_latencies({latency("a")});
  std::string damaged = good;
  damaged[damaged.size() - 2] = damaged[damaged.size() - 2] == '4' ? '5' : '4';
  const auto sealed = [](const std::string& fields) { return sealed_record(kLatencyVersion, fields); };
  const ReadLatencies read =
      read_latencies(damaged + sealed("cpu a 1 0 vda 0 0 0 0 0 0 0") + sealed("blkio a 1 0 vda 2 0 0 0 0 0 0") +
                     sealed("blkio a 1 0 vda 0 1e9 1 1 0 0 0") + sealed("blkio a 1 0 vda 0 0 0 0 0 0 0 more") + good);
  CHECK(read.problems.size() == 5);
  CHECK(read.latencies.size() == 1);
}

TEST_CASE("an analysis that is restored during interference has the verdict, and is not poisoned by it") {
  IoAnalysis before;
  for (int i = 0; i < 30; ++i) before.add(kBegin + i * 1s, {reader(1, true)});
  const std::vector<SavedLatency> saved = before.save(kBegin + 30s);
  REQUIRE(saved.size() == 2);  // the workload and the device
  CHECK(saved[0].workload == kAllOnDevice);
  CHECK(saved[1].mean.windows == 30);
  CHECK(saved[1].mean.value == doctest::Approx(0.001).epsilon(0.05));

  IoAnalysis after, ignorant;
  after.restore(read_latencies(write_latencies([&] {
                  std::vector<SavedLatency> named = saved;
                  for (SavedLatency& one : named) one.device_name = "vda";
                  return named;
                }()))
                    .latencies,
                kBegin + 60s);
  for (int i = 60; i < 120; ++i)
    for (IoAnalysis* each : {&after, &ignorant}) each->add(kBegin + i * 1s, {reader(5, false)});
  CHECK(standing(after) == "interfered read_latency;");
  CHECK(standing(ignorant).empty());
  const SavedLatency kept = after.save(kBegin + 120s).at(1);
  CHECK(kept.mean.value == doctest::Approx(saved[1].mean.value));
  CHECK(kept.mean.windows == 30);
}

TEST_CASE("quiet latencies are shared by the pods of a workload, and forgotten a day after its last one") {
  IoAnalysis before;
  for (int i = 0; i < 30; ++i) before.add(kBegin + i * 1s, {reader(1, true)});
  const std::vector<SavedLatency> saved = before.save(kBegin + 30s);
  IoAnalysis other_pod;
  other_pod.restore(saved, kBegin + 60s);
  for (int i = 60; i < 66; ++i) {
    IoSubject second = reader(5, false);
    second.window.subject = 7;
    other_pod.add(kBegin + i * 1s, {second});
  }
  CHECK(standing(other_pod) == "interfered read_latency;");
  IoAnalysis later;
  later.restore(saved, kBegin + 25h);
  CHECK(later.save(kBegin + 25h).empty());
}
