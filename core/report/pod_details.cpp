// SPDX-License-Identifier: Apache-2.0
#include "core/report/pod_details.hpp"

#include <algorithm>
#include <cmath>

#include "core/report/usage_query.hpp"

namespace koord::report {
namespace {

using RateByUid = std::map<std::string, double, std::less<>>;
using DetailNames = std::map<std::string_view, std::pair<std::string, std::string>>;  // namespace and name by uid

constexpr double kDetailDigits = 1e4;

std::optional<double> rounded(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return std::round(value * kDetailDigits) / kDetailDigits;
}

std::optional<double> rate_of(const RateByUid& rates, const std::string& uid) {
  const auto found = rates.find(uid);
  return found == rates.end() ? std::nullopt : rounded(found->second);
}

// Returns the rate of the sum of a pod's counters. If a counter was reset within the window, for example by a restart
// of its plugin, the pod has no rate.
RateByUid rates_of(const DetailInputs& inputs, const std::string& metric, const store::Labels& match) {
  constexpr store::Aggregation kNeeded[] = {store::Aggregation::min, store::Aggregation::max, store::Aggregation::last};
  RateByUid rates;
  for (const store::AggregateRow& row :
       inputs.cache.aggregate({metric, match, inputs.now - inputs.window, inputs.now}, kNeeded)) {
    const std::string_view uid = label_of(row, "pod_uid");
    const double seconds = std::chrono::duration<double>(row.to - row.from).count();
    const bool is_current = row.to >= inputs.now - inputs.window / 2;
    if (uid.empty() || seconds <= 0 || !is_current) continue;
    const bool has_restarted = row.values[2] < row.values[1];
    rates[std::string(uid)] += has_restarted ? std::nan("") : (row.values[1] - row.values[0]) / seconds;
  }
  return rates;
}

void add_pressure(const DetailInputs& inputs, const DetailNames& names, DetailsOfPods& details) {
  const RateByUid delay = rates_of(inputs, "pod_sched_latency_seconds_sum", {});
  const RateByUid stall = rates_of(inputs, "pod_memory_stall_seconds_total", {});
  const auto psi = [&](const char* resource) {
    return rates_of(inputs, "pod_pressure_stalled_seconds_total", {{"psi_resource", resource}, {"psi_degree", "some"}});
  };
  const RateByUid psi_memory = psi("mem"), psi_io = psi("io");
  for (const auto& [uid_view, name] : names) {
    const std::string uid(uid_view);
    PodPressure pressure{rate_of(delay, uid), rate_of(stall, uid), rate_of(psi_io, uid)};
    if (!pressure.memory_stall) pressure.memory_stall = rate_of(psi_memory, uid);
    if (pressure.is_known()) details[name].pressure = pressure;
  }
}

std::string name_of_suspect(const verdict::Suspect& suspect) {
  std::string name = verdict::name_of_subject(suspect.subject.labels);
  return name.empty() ? suspect.name : name;
}

PodInterference interference_of(const verdict::Record& record, const DetailInputs& inputs) {
  constexpr std::int64_t kDetailSecond = 1'000'000'000;
  const Duration age = std::max(inputs.now - record.since, Duration::zero());
  PodInterference found{.container = std::string(verdict::label_of(record.victim.labels, "container_name")),
                        .resource = std::string(name_of(record.resource)),
                        .kind = std::string(name_of(record.kind)),
                        .method = std::string(name_of(record.method)),
                        .severity = rounded(record.statistic.value / record.statistic.threshold),
                        .since_seconds = (inputs.wall_ns - age.count()) / kDetailSecond,
                        .suspects = {}};
  for (const verdict::Suspect& suspect : record.suspects) {
    if (found.suspects.size() == kMaxSuspectsOfVerdict) break;
    found.suspects.push_back({std::string(name_of(suspect.kind)), name_of_suspect(suspect), rounded(suspect.share)});
  }
  return found;
}

// Adds interference of pods in the snapshot only, because a plugin may post about any name. Omits verdicts of
// third-party plugins, because schedulers act on the report, and these verdicts are unverified.
void add_interference(const DetailInputs& inputs, const DetailNames& names, DetailsOfPods& details) {
  for (const verdict::RecordPtr& record : inputs.verdicts) {
    const auto name = names.find(verdict::label_of(record->victim.labels, "pod_uid"));
    const bool is_over = later(record->posted, record->ttl) < inputs.now;
    if (name == names.end() || is_over || record->origin != verdict::Origin::own) continue;
    std::vector<PodInterference>& of_pod = details[name->second].interference;
    if (of_pod.size() < kMaxVerdictsOfPod) of_pod.push_back(interference_of(*record, inputs));
  }
}

}  // namespace

DetailsOfPods make_pod_details(const DetailInputs& inputs) {
  DetailNames names;
  for (const state::Pod& pod : inputs.state.pods)
    if (!pod.uid.empty() && !pod.name.empty()) names.emplace(pod.uid, std::pair(pod.namespace_, pod.name));
  DetailsOfPods details;
  add_pressure(inputs, names, details);
  add_interference(inputs, names, details);
  return details;
}

}  // namespace koord::report
