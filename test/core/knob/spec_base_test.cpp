// SPDX-License-Identifier: Apache-2.0
#include "core/knob/spec_base.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace koord::knob;

namespace {

struct Spec {
  Subject subject{"u1", "shop", "web"};
  QuotaRules rules{.is_known = true};

  Spec() {
    subject.container = "app";
    subject.limits = {1500, 64 << 20};
  }
  // Returns the base with its source: "150000 100000 (limit 1500m)".
  std::string base(std::string_view name, std::string_view before = "") const {
    Subjects subjects;
    subjects.set_quota_rules(rules);
    subjects.add("pod/app", subject);
    const Knob& knob = *find_knob(name);
    const auto base = before.empty() ? spec_base(subjects, knob, "pod/app")
                                     : spec_base_over(subjects, knob, "pod/app", *parse_value(knob, before));
    return base ? spell(knob, base->value) + " (" + base->source + ")" : "none";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Spec, "a limit of CPU is a quota of the kubelet's period, a limit of memory is bytes") {
  CHECK(base("cpu.max") == "150000 100000 (limit 1500m)");
  CHECK(base("memory.max") == "67108864 (limit 64Mi)");
  CHECK(base("memory.high") == "none");
  rules.period_us = 50'000;
  subject.limits = {2000, 1000};
  CHECK(base("cpu.max") == "100000 50000 (limit 2)");
  CHECK(base("memory.max") == "1000 (limit 1000)");
  subject.limits.cpu_milli = 1;
  CHECK(base("cpu.max") == "1000 50000 (limit 1m)");
}

TEST_CASE_FIXTURE(Spec, "without a limit the spec decides nothing") {
  subject.limits = {};
  CHECK(base("cpu.max") == "none");
  CHECK(base("memory.max") == "none");
}

TEST_CASE_FIXTURE(Spec, "where the kubelet's cpuCFSQuota is off a container has no quota") {
  rules.is_enforced = false;
  CHECK(base("cpu.max") == "max 100000 (cpuCFSQuota is off)");
}

TEST_CASE_FIXTURE(
    Spec, "a container with CPUs of its own has no quota, or that of its limit, and a revert writes the original") {
  subject.has_own_cpus = true;
  CHECK(base("cpu.max", "max") == "none");
  CHECK(base("cpu.max", "150000 100000") == "150000 100000 (limit 1500m)");
  CHECK(base("cpu.max", "450000 100000") == "150000 100000 (limit 1500m)");
  Subjects subjects;
  subjects.set_quota_rules(rules);
  subjects.add("pod/app", subject);
  CHECK_FALSE(spec_base(subjects, *find_knob("cpu.max"), "pod/app")->is_reverted_to);
  subject.limits = {};
  CHECK(base("cpu.max", "150000 100000") == "none");
}

TEST_CASE_FIXTURE(Spec, "a quota that systemd has rounded up to a whole percent is the limit's") {
  subject.limits.cpu_milli = 333;
  CHECK(base("cpu.max", "33300 100000") == "33300 100000 (limit 333m)");
  CHECK(base("cpu.max", "34000 100000") == "34000 100000 (limit 333m)");
  CHECK(base("cpu.max", "35000 100000") == "33300 100000 (limit 333m)");
  CHECK(base("cpu.max", "99900 100000") == "33300 100000 (limit 333m)");
}

TEST_CASE_FIXTURE(Spec, "a cgroup without a limit shows that an unknown kubelet does not enforce it") {
  CHECK(base("cpu.max", "max") == "150000 100000 (limit 1500m)");
  rules.is_known = false;
  CHECK(base("cpu.max", "max") == "none");
  CHECK(base("cpu.max", "300000 100000") == "150000 100000 (limit 1500m)");
}

TEST_CASE_FIXTURE(Spec, "a limit beyond all CPUs is a large quota, not the least one") {
  for (const std::int64_t milli : {std::int64_t{1} << 47, std::numeric_limits<std::int64_t>::max()}) {
    subject.limits.cpu_milli = milli;
    Subjects subjects;
    subjects.set_quota_rules(rules);
    subjects.add("pod/app", subject);
    CHECK(spec_base(subjects, *find_knob("cpu.max"), "pod/app")->value.amount > 1'000'000'000);
  }
}

TEST_CASE_FIXTURE(Spec, "the period of an unknown kubelet is the one that the cgroup has") {
  rules.is_known = false;
  subject.limits.cpu_milli = 333;
  CHECK(base("cpu.max", "16650 50000") == "16650 50000 (limit 333m)");
  CHECK(base("cpu.max", "49950 50000") == "16650 50000 (limit 333m)");
}
