// SPDX-License-Identifier: Apache-2.0
// koordlet's tables of eviction for CPU and memory: how much must be released, and which pods are evicted for it.
#include "plugins/qos-cpu-evict/cpu_evict.hpp"
#include "plugins/qos-memory-evict/memory_evict.hpp"
#include "test/composed/koordlet_table.hpp"

using namespace koord;
using eviction::Candidate;
using eviction::Decision;
using eviction::Situation;
using test::check_row;
using test::Expected;

namespace {

constexpr const char* kCpuReadme = "qos-cpu-evict/README.md";
constexpr const char* kMemoryReadme = "qos-memory-evict/README.md";
constexpr std::int64_t kG = 1'000'000'000, kGi = std::int64_t{1} << 30;
using Names = std::vector<std::string>;

Candidate pod(std::string name, std::int32_t priority, bool is_best_effort, std::int64_t used) {
  Candidate pod;
  pod.name = std::move(name);
  pod.is_active = pod.is_enabled = true;
  pod.is_best_effort = is_best_effort;
  pod.priority = pod.sub_priority = priority;
  pod.used = used;
  return pod;
}

Candidate sold(std::string name, std::uint32_t priority_class, std::int32_t priority, const eviction::Requests& cpu,
               const eviction::Requests& memory) {
  Candidate candidate = pod(std::move(name), priority, priority_class == KOORD_PRIORITY_BATCH, 0);
  candidate.priority_class = priority_class;
  candidate.cpu = cpu;
  candidate.memory = memory;
  return candidate;
}

// Returns the pods that are evicted for the first demand, in order, until they release enough.
Names victims(const Decision& decision) {
  Names names;
  if (decision.demands.empty()) return names;
  const eviction::Demand& demand = decision.demands[0];
  std::int64_t missing = demand.amount;
  for (const eviction::Victim& victim : demand.victims) {
    if (missing <= 0) break;
    names.push_back(victim.pod->name);
    missing -= releases(*victim.pod, demand.released);
  }
  return names;
}

std::int64_t amount(const Decision& decision, eviction::Tier tier) {
  for (const eviction::Demand& demand : decision.demands)
    if (demand.released.tier == tier) return demand.amount;
  return 0;
}

// A node with `allocatable` of batch and mid CPU, and the batch and mid milli-cores that its pods request.
Situation promised_cpu(slo::Number priority, eviction::Allocatable allocatable, bool with_mid) {
  Situation situation;
  situation.features = {"CPUAllocatableEvict"};
  situation.slo.cpu_allocatable_evict_threshold_percent = 80;
  situation.slo.cpu_allocatable_evict_lower_percent = 70;
  situation.slo.allocatable_evict_priority_threshold = priority;
  situation.allocatable = allocatable;
  situation.pods = {sold("batch-1", KOORD_PRIORITY_BATCH, 5500, {.batch = 45'000}, {}),
                    sold("batch-2", KOORD_PRIORITY_BATCH, 5500, {.batch = 40'000}, {})};
  if (with_mid) situation.pods.push_back(sold("mid-1", KOORD_PRIORITY_MID, 7500, {.mid = 85'000}, {}));
  return situation;
}

}  // namespace

TEST_CASE("koordlet's table: BECPUEvict, lower 30 and upper 40 percent of a request of 50 cores") {
  const cpu_evict::Satisfaction satisfaction{30, 40, 90};
  const auto released = [&](double request, double limit) {
    return cpu_evict::release({limit, request, limit}, satisfaction);
  };
  // Returns the lower of the amounts for the average and for the newest usage.
  const auto round = [&](double average, double newest) {
    return std::min(released(50'000, average), released(50'000, newest));
  };
  check_row("limit 10 on average, 14 now", round(10'000, 14'000), Expected<std::int64_t>(6000));
  check_row("limit 13 on average, 11 now", round(13'000, 11'000), Expected<std::int64_t>(7000));
  check_row("request 40, limit 20", released(40'000, 20'000), Expected<std::int64_t>(0));
  check_row("by allocatable, which is 0", released(50'000, 1), Expected<std::int64_t>(20'000 - 1));
}

TEST_CASE("koordlet's table: CPUEvict of 100 cores") {
  const auto released = [](double used, slo::Number lower) {
    Situation situation;
    situation.features = {"CPUEvict"};
    situation.slo.cpu_evict_threshold_percent = 80;
    situation.slo.cpu_evict_lower_percent = lower;
    situation.slo.evict_enabled_priority_threshold = 5999;
    situation.capacity = 100'000;
    situation.pods = {pod("a", 5500, true, 50'000)};
    return amount(cpu_evict::decide(situation, {{used, used}, {}}), eviction::Tier::native);
  };
  check_row("81 used", released(81'000, {}), Expected<std::int64_t>(3000));
  check_row("79.999 used", released(79'999, {}), Expected<std::int64_t>(0));
  check_row("80.9 used", released(80'900, {}),
            Expected<std::int64_t>(2000, 2900, {kCpuReadme, "Percents are not cut to whole ones"}));
  check_row("equal lower and threshold values are refused by both", released(81'000, 80), Expected<std::int64_t>(0));
}

TEST_CASE("koordlet's table: CPUAllocatableEvict of 100 cores of batch and of mid CPU, threshold 80, lower 70") {
  const auto decided = [](const Situation& situation) {
    const Decision decision = cpu_evict::decide(situation, {});
    return std::pair(amount(decision, eviction::Tier::batch), amount(decision, eviction::Tier::mid));
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  const eviction::Allocatable both{.mid = 100'000, .batch = 100'000};
  check_row("batch alone", decided(promised_cpu(7999, both, false)), Expected<Pair>({15'000, 0}));
  check_row("mid, too", decided(promised_cpu(7999, both, true)), Expected<Pair>({15'000, 15'000}));
  check_row("up to priority 5999", decided(promised_cpu(5999, both, true)), Expected<Pair>({15'000, 0}));
  check_row("batch-cpu is unknown", decided(promised_cpu(5999, {}, false)),
            Expected<Pair>({85'000, 0}, {0, 0}, {kCpuReadme, "Unknown allocatable is no decision"}));
  check_row("batch-cpu is 0", decided(promised_cpu(5999, {.mid = {}, .batch = 0}, false)), Expected<Pair>({85'000, 0}));
}

TEST_CASE("koordlet's table: BEMemoryEvict, 115 G of 120 G used: which pods are evicted, and in which order") {
  struct Row {
    const char* name;
    std::int64_t threshold;
    slo::Number lower;
    Expected<Names> gone;
  };
  const Row rows[] = {
      {"82: the largest of the lowest priority", 82, {}, Names{"be-100-b"}},
      {"80: the next one of that priority, too", 80, {}, Names{"be-100-b", "be-100-a"}},
      {"50: then the higher priority", 50, {}, Names{"be-100-b", "be-100-a", "be-120"}},
      {"82 down to 80", 82, 80, Names{"be-100-b"}},
      {"82 down to 78", 82, 78, Names{"be-100-b", "be-100-a"}},
      {"82 down to 74", 82, 74, Names{"be-100-b", "be-100-a", "be-120"}},
      {"97: below the threshold", 97, {}, Names{}},
      {"lower above the threshold is refused by both", 80, 90, Names{}},
  };
  for (const Row& row : rows) {
    Situation situation;
    situation.features = {"BEMemoryEvict"};
    situation.slo.memory_evict_threshold_percent = row.threshold;
    situation.slo.memory_evict_lower_percent = row.lower;
    situation.capacity = 120 * kG;
    situation.pods = {pod("lsr", 1000, false, 40 * kG),    pod("ls", 500, false, 30 * kG),
                      pod("none", 100, false, 10 * kG),    pod("be-100-a", 100, true, 5 * kG),
                      pod("be-100-b", 100, true, 20 * kG), pod("be-120", 120, true, 10 * kG)};
    check_row(row.name, victims(memory_evict::decide(situation, 115 * kG)), row.gone);
  }
}

TEST_CASE("koordlet's table: MemoryAllocatableEvict of a node without batch-memory") {
  Situation situation;
  situation.features = {"MemoryAllocatableEvict"};
  situation.slo.memory_allocatable_evict_threshold_percent = 80;
  situation.slo.memory_allocatable_evict_lower_percent = 70;
  situation.slo.allocatable_evict_priority_threshold = 5000;
  situation.pods = {sold("batch-1", KOORD_PRIORITY_BATCH, 5000, {}, {.batch = 20 * kGi}),
                    sold("batch-2", KOORD_PRIORITY_BATCH, 5000, {}, {.batch = 30 * kGi})};
  check_row("it is unknown", victims(memory_evict::decide(situation, 115 * kG)),
            Expected<Names>({"batch-1", "batch-2"}, {}, {kMemoryReadme, "Unknown allocatable is no decision"}));
  situation.allocatable.batch = 0;
  CHECK(victims(memory_evict::decide(situation, 115 * kG)).size() == 2);
}

TEST_CASE("koordlet's table: numbers with which a feature refuses to run") {
  const auto runs = [](const char* feature, slo::Number threshold, slo::Number lower, slo::Number priority) {
    Situation situation;
    situation.features = {feature};
    situation.slo.memory_evict_threshold_percent = situation.slo.memory_allocatable_evict_threshold_percent = threshold;
    situation.slo.memory_evict_lower_percent = situation.slo.memory_allocatable_evict_lower_percent = lower;
    situation.slo.evict_enabled_priority_threshold = situation.slo.allocatable_evict_priority_threshold = priority;
    situation.capacity = 100 * kG;
    return memory_evict::decide(situation, 1).unknown.empty();
  };
  CHECK_FALSE(runs("BEMemoryEvict", {}, {}, {}));
  CHECK(runs("BEMemoryEvict", 80, {}, {}));
  CHECK_FALSE(runs("BEMemoryEvict", 80, 90, {}));
  CHECK(runs("BEMemoryEvict", 80, 70, {}));
  CHECK_FALSE(runs("MemoryEvict", 80, 70, {}));
  CHECK_FALSE(runs("MemoryEvict", 80, 80, 5999));
  CHECK(runs("MemoryEvict", 85, 75, 5999));
  CHECK_FALSE(runs("MemoryAllocatableEvict", {}, {}, 5999));
  CHECK_FALSE(runs("MemoryAllocatableEvict", 80, 70, {}));
  CHECK(runs("MemoryAllocatableEvict", 85, 75, 5999));
}
