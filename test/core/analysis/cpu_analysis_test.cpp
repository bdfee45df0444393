// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/cpu_analysis.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kCart = 1, kEtl = 2;
const Time kBegin(1'000'000s);

CpuSubject service(double held_up, Subject subject = kCart) {
  CpuWindow window{.subject = subject, .run = 0.2, .wait = held_up, .usable_cpus = 2, .held_up = held_up};
  if (held_up > 0) window.others = {{SuspectKind::container, kEtl, held_up, 1}};
  return {"shop/cart/app", window};
}

CpuSubject hog() { return {"batch/etl/main", {.subject = kEtl, .run = 1.5, .usable_cpus = 2}}; }

}  // namespace

TEST_CASE(
    "a service beside a hog has a verdict after three windows, the hog none, and it is cleared after ten quiet ones") {
  CpuAnalysis analysis;
  std::vector<VerdictEvent> events;
  const auto add = [&](int second, double held_up) {
    for (VerdictEvent& event : analysis.add(kBegin + second * 1s, {service(held_up), hog()}))
      events.push_back(std::move(event));
  };
  for (int second = 0; second < 20; ++second) add(second, 0);
  CHECK(events.empty());
  for (int second = 20; second < 30; ++second) add(second, 0.05);
  REQUIRE(events.size() == 1);
  CHECK(events[0].change == Change::confirmed);
  CHECK(events[0].verdict.victim == kCart);
  CHECK(events[0].verdict.suspects[0].subject == kEtl);
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.standing()[0].windows_over == 10);
  for (int second = 30; second < 50; ++second) add(second, 0);
  REQUIRE(events.size() == 2);
  CHECK(events[1].change == Change::cleared);
  CHECK(events[1].verdict.windows_over == 10);
  CHECK(analysis.standing().empty());
}

TEST_CASE("a workload with a rule of its own is judged by it, and the others by that of the node") {
  CpuAnalysis analysis;
  Rules patient;
  patient.cpu.held_up = 0.2;
  Rules quick;
  quick.confirmation = {1, 1, 1s};
  CpuSubject other = service(0.05, 7), hasty = service(0.05, 8);
  other.rules = std::make_shared<const Rules>(patient);
  hasty.rules = std::make_shared<const Rules>(quick);
  const auto standing = [&] {
    std::string subjects;
    for (const Verdict& verdict : analysis.standing()) subjects += std::to_string(verdict.victim) + " ";
    return subjects;
  };
  analysis.add(kBegin, {service(0.05), other, hasty});
  CHECK(standing() == "8 ");
  for (int second = 1; second < 5; ++second) analysis.add(kBegin + second * 1s, {service(0.05), other, hasty});
  CHECK(standing() == "1 8 ");
  CHECK(analysis.standing()[0].statistic.threshold == doctest::Approx(0.01));

  // From now on it has a different rule. Its verdict ends with an event, and the new rule confirms a verdict again.
  hasty.rules = nullptr;
  const auto events = analysis.add(kBegin + 5s, {service(0.05), other, hasty});
  REQUIRE(events.size() == 1);
  CHECK(events[0].change == Change::cleared);
  CHECK(events[0].verdict.victim == 8);
  CHECK(standing() == "1 ");
  for (int second = 6; second < 9; ++second) analysis.add(kBegin + second * 1s, {service(0.05), other, hasty});
  CHECK(standing() == "1 8 ");
}

TEST_CASE("containers of one workload share what is known of its quiet time") {
  CpuAnalysis analysis;
  for (int second = 0; second < 100; ++second) analysis.add(kBegin + second * 1s, {service(0.03)});
  // Its requests always wait this long, so a new container of the workload with the same waits is not interfered with.
  for (int second = 100; second < 110; ++second) {
    const auto events = analysis.add(kBegin + second * 1s, {service(0.03), service(0.03, 7)});
    for (const auto& event : events) CHECK(event.change != Change::confirmed);
  }
  CHECK(analysis.standing().empty());
}

TEST_CASE("the verdict about a container ends with the container") {
  CpuAnalysis analysis;
  for (int second = 0; second < 5; ++second) analysis.add(kBegin + second * 1s, {service(0.05)});
  CHECK(analysis.standing().size() == 1);
  CHECK(analysis.add(kBegin + 5s, {}).empty());
  CHECK(analysis.standing().empty());
}

TEST_CASE("a suspect has its wait in quiet windows, and the excess of the present wait") {
  CpuAnalysis analysis;
  const auto add = [&](int second, double waited) { analysis.add(kBegin + second * 1s, {service(waited), hog()}); };
  for (int second = 0; second < 100; ++second) add(second, 0.008);
  for (int second = 100; second < 110; ++second) add(second, 0.05);
  REQUIRE(analysis.standing().size() == 1);
  const Suspect suspect = analysis.standing()[0].suspects.at(0);
  CHECK(suspect.waited == doctest::Approx(0.05));
  CHECK(suspect.quiet == doctest::Approx(0.008).epsilon(0.06));
  CHECK(suspect.over_quiet() == doctest::Approx(0.042).epsilon(0.06));
}

TEST_CASE("a suspect that is new has no wait in quiet windows") {
  CpuAnalysis analysis;
  for (int second = 0; second < 100; ++second) analysis.add(kBegin + second * 1s, {service(0), hog()});
  // Longer than the time after which a workload is known.
  for (int second = 100; second < 300; ++second) analysis.add(kBegin + second * 1s, {service(0.05), hog()});
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.standing()[0].suspects.at(0).quiet == 0);
}

TEST_CASE("an analysis that starts during interference uses the saved baselines of the previous one") {
  CpuAnalysis before;
  for (int second = 0; second < 100; ++second) before.add(kBegin + second * 1s, {service(0.004), hog()});
  const std::string kept = write_baselines(before.save(kBegin + 100s));

  CpuAnalysis after;
  const ReadBaselines read = read_baselines(kept);
  CHECK(read.problems.empty());
  after.restore(read.baselines, kBegin + 105s);
  for (int second = 105; second < 405; ++second) after.add(kBegin + second * 1s, {service(0.05), hog()});
  REQUIRE(after.standing().size() == 1);
  CHECK(after.standing()[0].windows_over == 300);
  CHECK(after.standing()[0].statistic.baseline == doctest::Approx(0.004).epsilon(0.1));
  CHECK(after.standing()[0].suspects.at(0).quiet == doctest::Approx(0.004).epsilon(0.1));

  // Without saved baselines the analysis knows only windows with interference, and treats them as quiet windows.
  CpuAnalysis fresh;
  for (int second = 105; second < 405; ++second) fresh.add(kBegin + second * 1s, {service(0.05), hog()});
  CHECK(fresh.standing().empty());
}

TEST_CASE("baselines that are saved again and again do not drift") {
  CpuAnalysis analysis;
  for (int second = 0; second < 100; ++second) analysis.add(kBegin + second * 1s, {service(0.02), hog()});
  const auto first = analysis.save(kBegin + 100s);
  for (int i = 0; i < 20; ++i) {
    CpuAnalysis next;
    next.restore(read_baselines(write_baselines(analysis.save(kBegin + 100s))).baselines, kBegin + 100s);
    analysis = next;
  }
  const auto last = analysis.save(kBegin + 100s);
  REQUIRE(first.size() == 2);
  REQUIRE(last.size() == 2);
  for (std::size_t i = 0; i < last.size(); ++i) {
    CHECK(last[i].workload == first[i].workload);
    CHECK(last[i].windows == 100);
    REQUIRE(last[i].weights.size() == first[i].weights.size());
    CHECK(last[i].weights[0].first == first[i].weights[0].first);
    CHECK(last[i].weights[0].second == doctest::Approx(first[i].weights[0].second).epsilon(0.02));
    CHECK(last[i].quiet.size() == first[i].quiet.size());
  }
  CHECK(last[1].quiet.at(0).second == doctest::Approx(first[1].quiet.at(0).second).epsilon(0.02));
}

TEST_CASE("a workload that was not seen for a day is not restored, and one of the future is of now") {
  CpuAnalysis analysis;
  analysis.restore({{"old/a/x", kBegin - 25h, 100, {{0, 100}}, {}}, {"new/b/x", kBegin + 99h, 100, {{0, 100}}, {}}},
                   kBegin);
  const auto saved = analysis.save(kBegin);
  REQUIRE(saved.size() == 1);
  CHECK(saved[0].workload == "new/b/x");
  CHECK(saved[0].seen == kBegin);
}

TEST_CASE("new rules apply from the next window on, and the known quiet level stays") {
  CpuAnalysis analysis;
  for (int second = 0; second < 100; ++second) analysis.add(kBegin + second * 1s, {service(0.03), hog()});
  for (int second = 100; second < 105; ++second) analysis.add(kBegin + second * 1s, {service(0.09), hog()});
  REQUIRE(analysis.standing().size() == 1);
  const double baseline = analysis.standing()[0].statistic.baseline;
  CHECK(baseline > 0.02);

  Rules rules;
  rules.cpu.over_quiet = 5;
  const std::vector<VerdictEvent> ended = analysis.set_rules(rules, kBegin + 105s);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].change == Change::cleared);
  CHECK(ended[0].verdict.statistic.baseline == baseline);
  CHECK(analysis.set_rules(rules, kBegin + 105s).empty());
  CHECK(analysis.standing().empty());
  for (int second = 105; second < 110; ++second) analysis.add(kBegin + second * 1s, {service(0.09), hog()});
  CHECK(analysis.standing().empty());
  for (int second = 110; second < 115; ++second) analysis.add(kBegin + second * 1s, {service(0.3), hog()});
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.standing()[0].statistic.baseline == doctest::Approx(baseline).epsilon(0.1));
}

TEST_CASE("a baseline of the cluster is the start for a workload that is new, and not for one that is known") {
  CpuAnalysis elsewhere;
  for (int second = 0; second < 100; ++second) elsewhere.add(kBegin + second * 1s, {service(0.03)});
  const std::vector<SavedBaseline> offered = elsewhere.save(kBegin + 100s);

  // Its waits are as long as always.
  CpuAnalysis fresh;
  fresh.adopt(offered, kBegin + 100s);
  for (int second = 101; second < 110; ++second) fresh.add(kBegin + second * 1s, {service(0.03), hog()});
  CHECK(fresh.standing().empty());

  CpuAnalysis known;
  for (int second = 0; second < 100; ++second) known.add(kBegin + second * 1s, {service(0)});
  known.adopt(offered, kBegin + 100s);
  for (int second = 101; second < 110; ++second) known.add(kBegin + second * 1s, {service(0.03), hog()});
  CHECK(known.standing().size() == 1);
}
