// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "plugins/advisor-interference/cpu_use.hpp"

using namespace koord;
using namespace koord::interference;
using analysis::CpuWindow;
using analysis::Suspect;
using analysis::SuspectKind;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kCart = 1, kEtl = 2, kPinned = 3;
const ContainerOfCgroup kContainers = {{101, kCart}, {201, kEtl}, {202, kEtl}, {301, kPinned}};

CpuWindow described(const CpuUse& use, const char* cpus = "") {
  CpuWindow window{.subject = kCart};
  window.neighbours = {{SuspectKind::kernel, 0, 0, 9}};  // left from an earlier window
  use.describe(window, *CpuSet::parse(cpus));
  return window;
}

double usage(const CpuWindow& window, SuspectKind kind, std::uint64_t subject = 0) {
  for (const Suspect& one : window.neighbours)
    if (one.kind == kind && one.subject == subject) return one.usage;
  return 0;
}

}  // namespace

TEST_CASE("the idle time of a CPU is idle plus iowait, without stolen time") {
  const UnusedCpus cpus = parse_unused_cpus("cpu  40 0 40 400 40 0 0 14 0 0\n"
                                            "cpu0 10 0 10 100 20 0 0 7 0 0\n"
                                            "cpu12 30 0 30 300 20 0 0 7\n"
                                            "intr 5000000 1 2\nctxt 7\n");
  CHECK(cpus == UnusedCpus{{0, {1200 * kMs, 70 * kMs}}, {12, {3200 * kMs, 70 * kMs}}});
}

TEST_CASE("damaged lines of /proc/stat are left out") {
  CHECK(parse_unused_cpus("").empty());
  CHECK(parse_unused_cpus("cpu0 10 0 10 100 20 0 0\n").empty());
  CHECK(parse_unused_cpus("cpu0 10 0 10 -100 20 0 0 7\n").empty());
  CHECK(parse_unused_cpus("cpux 10 0 10 100 20 0 0 7\n").empty());
  CHECK(parse_unused_cpus("cpu99999999 10 0 10 100 20 0 0 7\n").empty());
  CHECK(parse_unused_cpus("cpu0 0 0 0 18446744073709551615 1 0 0 0\n").empty());
}

TEST_CASE("a total that decreases has the difference 0, and a CPU that appeared or disappeared is unknown") {
  const UnusedCpus before = {{0, {100, 5}}, {1, {100, 5}}}, now = {{0, {90, 9}}, {2, {70, 0}}};
  CHECK(added(before, now) == UnusedCpus{{0, {0, 4}}});
}

TEST_CASE("neighbours on a container's CPUs are containers by their time there, and the rest outside of pods") {
  const std::vector<CpuRun> runs = {{101, 0, 100 * kMs}, {201, 0, 300 * kMs}, {202, 0, 100 * kMs},
                                    {202, 1, 200 * kMs}, {301, 2, 990 * kMs}, {999, 1, 700 * kMs}};
  const CpuUse use(runs, kContainers, {{0, {400 * kMs, 0}}, {1, {100 * kMs, 0}}, {2, {0, 0}}}, 1);
  SUBCASE("all CPUs") {
    const CpuWindow window = described(use);
    CHECK(window.idle == doctest::Approx(0.5));
    CHECK(window.neighbours.size() == 3);
    CHECK(usage(window, SuspectKind::container, kEtl) == doctest::Approx(0.6));
    CHECK(usage(window, SuspectKind::container, kPinned) == doctest::Approx(0.99));
    CHECK(usage(window, SuspectKind::outside) == doctest::Approx(3 - 0.5 - 0.1 - 0.6 - 0.99));
  }
  SUBCASE("a container on other CPUs is no neighbour") {
    const CpuWindow window = described(use, "0-1");
    CHECK(usage(window, SuspectKind::container, kPinned) == 0);
    CHECK(usage(window, SuspectKind::container, kEtl) == doctest::Approx(0.6));
    CHECK(usage(window, SuspectKind::outside) == doctest::Approx(2 - 0.5 - 0.1 - 0.6));
  }
}

TEST_CASE("used and idle time is per second of the window and excludes stolen time") {
  const CpuUse use({{201, 0, 500 * kMs}}, kContainers, {{0, {1000 * kMs, 500 * kMs}}}, 2);
  const CpuWindow window = described(use);
  CHECK(window.idle == doctest::Approx(0.5));
  CHECK(usage(window, SuspectKind::container, kEtl) == doctest::Approx(0.25));
  CHECK(usage(window, SuspectKind::outside) == doctest::Approx(0));
}

TEST_CASE("without /proc/stat only the containers are known as users of a CPU") {
  const CpuUse use({{201, 0, 500 * kMs}}, kContainers, {}, 1);
  const CpuWindow window = described(use);
  CHECK(window.idle == 0);
  REQUIRE(window.neighbours.size() == 1);
  CHECK(window.neighbours[0] == Suspect{SuspectKind::container, kEtl, 0, 0.5});
}
