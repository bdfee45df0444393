// SPDX-License-Identifier: Apache-2.0
// The plugin that uses throttling.hpp. Only this file uses the host. It reads the throttled time of each container
// every period, and posts a verdict for each finding of the rule.
#include <chrono>
#include <cstdint>
#include <koordetector/plugin.hpp>
#include <koordetector/subjects.hpp>
#include <koordetector/verdicts.hpp>
#include <optional>
#include <string>
#include <vector>

#include "throttling.hpp"

using namespace koord::plugin;

// One container: its file, which may be missing for a while, and the rule's state for it.
struct Container {
  std::uint64_t handle = 0;
  Throttling throttling;
  CgroupValues<1> stat{"cpu.stat", {"throttled_ns"}};
};

class ThrottlingRule : public Advisor {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    cgroups_ = require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    verdicts_ = Verdicts(host());
    limit_ = Config(host()).f64("/limit").value_or(limit_);
  }

  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return;
    containers_.follow(*snapshot, [this](const Subject& subject) {
      return Container{subject.is_pod() ? KOORD_NO_SUBJECT : subject.handle, Throttling(limit_)};
    });
    std::vector<Verdict> standing;
    const std::optional<Failure> failure = containers_.for_each([&](Container& container, std::string_view cgroup) {
      if (container.handle != KOORD_NO_SUBJECT) judge(container, cgroup, now_ns, standing);
    });
    // Posts all standing verdicts in each tick, because the host ends a verdict that is not posted again within its
    // ttl.
    post(standing);
    if (failure) throw *failure;
  }

 private:
  void judge(Container& container, std::string_view cgroup, std::uint64_t now_ns, std::vector<Verdict>& standing) {
    const auto reading = container.stat.read(host(), cgroups_, cgroup, now_ns);
    if (!reading || reading->values[0] == KOORD_ABSENT) return;
    const Throttling::State state = container.throttling.add(reading->read_ns, reading->values[0]);
    if (state == Throttling::State::stands) standing.push_back(verdict_of(container));
    if (state == Throttling::State::ended)
      verdicts_.end(container.handle, KOORD_RESOURCE_CPU, KOORD_VERDICT_SELF_QUOTA, "10 windows below the limit");
  }

  static Verdict verdict_of(const Container& container) {
    const Throttling::Finding& finding = container.throttling.finding();
    Verdict verdict;
    verdict.victim = container.handle;
    verdict.kind = KOORD_VERDICT_SELF_QUOTA;
    verdict.resource = KOORD_RESOURCE_CPU;
    verdict.method = KOORD_METHOD_EXACT;  // the kernel itself measures the time
    verdict.from_ns = finding.from_ns;
    verdict.to_ns = finding.to_ns;
    verdict.windows_over = finding.over;
    verdict.windows_seen = finding.seen;
    verdict.statistic = "throttled";
    verdict.statistic_unit = "seconds/second";
    verdict.value = finding.share;
    verdict.threshold = container.throttling.limit();
    verdict.amount_unit = "seconds/second";
    verdict.throttled = finding.share;
    verdict.note = "its CPU quota is too small for what it does";
    return verdict;
  }

  // Posts the verdicts. If a container has ended since the snapshot, the host refuses all verdicts. In that case each
  // verdict is posted alone.
  void post(const std::vector<Verdict>& standing) {
    if (standing.empty()) return;
    try {
      verdicts_.post(standing);
    } catch (const Failure& failure) {
      if (failure.status() != KOORD_E_GONE) throw;
      for (const Verdict& verdict : standing) post_one(verdict);
    }
  }

  void post_one(const Verdict& verdict) {
    try {
      verdicts_.post({verdict});
    } catch (const Failure& failure) {
      if (failure.status() != KOORD_E_GONE) throw;
    }
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_cgroup* cgroups_ = nullptr;
  Verdicts verdicts_;
  Subjects<Container> containers_;
  double limit_ = 0.05;  // share of the time
};

KOORD_PLUGIN("id=com.example.throttling-rule\n"
             "version=1.0.0\n"
             "kinds=koord.advisor/1\n"
             "gate=ThrottlingRuleExample\n"
             "requires=koord.cgroup/1,koord.config/1,koord.state/1,koord.verdict/1\n"
             "license=Apache-2.0\n"
             "description=posts a verdict about containers that their CPU quota throttles\n",
             advisor<ThrottlingRule>("throttling-rule", std::chrono::seconds(1), R"({
  "type": "object", "additionalProperties": false, "properties": {
    "limit": {"type": "number", "exclusiveMinimum": 0, "maximum": 1,
              "description": "share of the time from which on a container counts as throttled"}
  }})"))
