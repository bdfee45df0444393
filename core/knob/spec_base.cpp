// SPDX-License-Identifier: Apache-2.0
#include "core/knob/spec_base.hpp"

#include <algorithm>

namespace koord::knob {
namespace {

// Returns cores as Kubernetes spells them: "2", "100m".
std::string cores_text(std::int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t kMebi = 1 << 20;
  return bytes > 0 && bytes % kMebi == 0 ? std::to_string(bytes / kMebi) + "Mi" : std::to_string(bytes);
}

std::optional<SpecBase> quota_base(const Subject& subject, const QuotaRules& rules) {
  const Value unlimited{kUnlimited, rules.period_us};
  if (!subject.limits.cpu_milli) return std::nullopt;
  if (!rules.is_enforced) return SpecBase{unlimited, "cpuCFSQuota is off", false, true};
  const std::int64_t most_milli = kMostQuotaUs * 1000 / rules.period_us;
  const std::int64_t quota =
      std::clamp(std::min(*subject.limits.cpu_milli, most_milli) * rules.period_us / 1000, kLeastQuotaUs, kMostQuotaUs);
  // Kubelets before 1.33 set a quota even for containers with exclusive CPUs; newer kubelets do not. The original may
  // come from either.
  const bool is_certain = !subject.has_own_cpus;
  return SpecBase{{quota, rules.period_us},
                  "limit " + cores_text(*subject.limits.cpu_milli),
                  is_certain,
                  is_certain && rules.is_known};
}

// Returns whether systemd rounded the quota of the base. systemd stores whole percents of a CPU, and runc rounds up. So
// after a daemon-reload, a limit of 333m is 34000 of 100000.
bool is_rounded_by_systemd(const Value& before, const Value& base) {
  if (before.amount == kUnlimited || base.amount == kUnlimited || before.period_us <= 0) return false;
  const auto percents = [](const Value& quota) { return (quota.amount * 100 + quota.period_us - 1) / quota.period_us; };
  return before.amount * 100 % before.period_us == 0 && percents(before) == percents(base);
}

std::optional<SpecBase> spec_base_by(const Subjects& subjects, const QuotaRules& rules, const Knob& knob,
                                     std::string_view cgroup_dir) {
  if (knob.resource != "cpu.max" && knob.resource != "memory.max") return std::nullopt;
  const Subject* subject = subjects.at(cgroup_dir);
  if (subject == nullptr) return std::nullopt;
  if (knob.resource == "cpu.max") return quota_base(*subject, rules);
  if (!subject->limits.memory_bytes) return std::nullopt;
  return SpecBase{
      {*subject->limits.memory_bytes}, "limit " + bytes_text(*subject->limits.memory_bytes), true, rules.is_known};
}

}  // namespace

std::optional<SpecBase> spec_base(const Subjects& subjects, const Knob& knob, std::string_view cgroup_dir) {
  return spec_base_by(subjects, subjects.quota_rules(), knob, cgroup_dir);
}

std::optional<SpecBase> spec_base_over(const Subjects& subjects, const Knob& knob, std::string_view cgroup_dir,
                                       const Value& before) {
  QuotaRules rules = subjects.quota_rules();
  const bool shows_period =
      !rules.is_known && knob.resource == "cpu.max" && before.amount != kUnlimited && before.period_us > 0;
  if (shows_period) rules.period_us = before.period_us;
  std::optional<SpecBase> base = spec_base_by(subjects, rules, knob, cgroup_dir);
  if (base && !base->is_enforced && before.amount == kUnlimited) base.reset();
  if (base && knob.resource == "cpu.max" && is_rounded_by_systemd(before, base->value)) base->value = before;
  return base;
}

}  // namespace koord::knob
