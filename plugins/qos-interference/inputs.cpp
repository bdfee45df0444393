// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-interference/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "koordetector/verdicts.hpp"
#include "plugins/shared/eviction/candidate.hpp"

namespace koord::mitigation {
namespace {

using plugin::Strided;
using plugin::view;

// Returns the largest request of all tiers, because a batch pod has its request only in the tier batch.
double largest_of(const eviction::Requests& requests) {
  return static_cast<double>(std::max({requests.native, requests.mid, requests.batch}));
}

Pod pod_of(const koord_pod& record) {
  Pod pod;
  pod.handle = record.handle;
  pod.name = std::string(view(record.ns)) + "/" + std::string(view(record.name));
  pod.cgroup_dir = view(record.cgroup_dir);
  pod.rank = rank_of(record);
  const eviction::Candidate candidate = eviction::candidate_of(record);
  pod.cpu_request = largest_of(candidate.cpu) / 1000;
  pod.memory_request = largest_of(candidate.memory);
  pod.may_be_evicted = record.ns.n != 0 && candidate.policy.allows(kFeature);
  return pod;
}

std::optional<Resource> resource_of(std::uint32_t resource) {
  switch (resource) {
    case KOORD_RESOURCE_CPU:
      return Resource::cpu;
    case KOORD_RESOURCE_BLKIO:
      return Resource::blkio;
    case KOORD_RESOURCE_MEMORY:
      return Resource::memory;
    default:
      return std::nullopt;
  }
}

bool counts(const koord_verdict& verdict, const Trusted& trusted) {
  return verdict.kind == KOORD_VERDICT_INTERFERED &&
         (verdict.method == KOORD_METHOD_EXACT || verdict.method == KOORD_METHOD_ESTIMATED) &&
         (verdict.origin == KOORD_ORIGIN_OWN || trusted.contains(view(verdict.plugin)));
}

// Returns the value, or 0 if it is unknown, because unknown values blame no pod.
double known(double figure) { return std::isfinite(figure) && figure > 0 ? figure : 0; }

std::string statistic_of(const koord_verdict& verdict) {
  std::array<char, 64> figures{};
  std::snprintf(figures.data(), figures.size(), " %.3g, limit %.3g ", verdict.value, verdict.threshold);
  return std::string(view(verdict.statistic)) + figures.data() + std::string(view(verdict.statistic_unit));
}

std::vector<Suspect> suspects_of(const koord_verdict& verdict, const PodOfSubject& pods) {
  std::map<std::uint64_t, Suspect> by_pod;
  for (const koord_suspect& record : plugin::suspects_of(verdict)) {
    const auto pod = pods.find(record.subject);
    if (record.kind != KOORD_SUSPECT_SUBJECT || pod == pods.end()) continue;
    Suspect& suspect = by_pod[pod->second];
    suspect.pod = pod->second;
    suspect.waited += known(record.value);
    suspect.share += known(record.share);
  }
  std::vector<Suspect> suspects;
  for (const auto& [pod, suspect] : by_pod) suspects.push_back(suspect);
  return suspects;
}

}  // namespace

Rank rank_of(const koord_pod& pod) {
  if (pod.qos == KOORD_QOS_BE) return Rank::best_effort;
  if (pod.qos == KOORD_QOS_SYSTEM || pod.qos == KOORD_QOS_LSE || pod.qos == KOORD_QOS_LSR) return Rank::prod;
  switch (pod.priority_class) {
    case KOORD_PRIORITY_FREE:
      return Rank::best_effort;
    case KOORD_PRIORITY_BATCH:
      return Rank::batch;
    case KOORD_PRIORITY_MID:
      return Rank::mid;
    default:
      return Rank::prod;
  }
}

std::vector<Pod> pods_of(Strided<koord_pod> pods) {
  std::vector<Pod> all;
  for (const koord_pod& pod : pods)
    if (pod.phase == KOORD_PHASE_RUNNING && pod.cgroup_dir.n != 0) all.push_back(pod_of(pod));
  return all;
}

PodOfSubject pods_of_subjects(Strided<koord_pod> pods) {
  PodOfSubject subjects;
  for (const koord_pod& pod : pods) {
    subjects.emplace(pod.handle, pod.handle);
    for (const koord_container& container : plugin::containers_of(pod)) subjects.emplace(container.handle, pod.handle);
  }
  return subjects;
}

std::vector<Verdict> verdicts_of(Strided<koord_verdict> verdicts, const PodOfSubject& pods, const Trusted& trusted) {
  std::vector<Verdict> all;
  for (const koord_verdict& record : verdicts) {
    const auto victim = pods.find(record.victim);
    const auto resource = resource_of(record.resource);
    if (!counts(record, trusted) || victim == pods.end() || !resource) continue;
    Verdict verdict;
    verdict.id = record.id;
    verdict.source = view(record.plugin);
    verdict.victim = victim->second;
    verdict.victim_name = view(record.victim_name);
    verdict.resource = *resource;
    verdict.method = record.method == KOORD_METHOD_EXACT ? "exact" : "estimated";
    verdict.statistic = statistic_of(record);
    verdict.unit = view(record.amount_unit);
    verdict.windows = record.windows_over;
    verdict.to_ns = record.to_ns;
    verdict.suspects = suspects_of(record, pods);
    all.push_back(std::move(verdict));
  }
  return all;
}

}  // namespace koord::mitigation
