// SPDX-License-Identifier: Apache-2.0
#include "core/state/baseline_checkpoint.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/analysis/baseline.hpp"
#include "core/analysis/workload_scope.hpp"
#include "core/base/record.hpp"
#include "core/base/timestamp.hpp"
#include "core/state/document.hpp"

namespace koord::state {
namespace {

namespace json = boost::json;

constexpr std::string_view kApi = "interference.koordinator.sh/v1alpha1";
constexpr std::string_view kCheckpointKind = "InterferenceMetricCheckpoint";
constexpr std::int64_t kMostCheckpointWindows = 1'000'000'000;

Result<std::int64_t> integer_in(const Field& field, std::int64_t least, std::int64_t most) {
  const std::int64_t value = TRY(field.integer(least - 1));
  if (value < least || value > most)
    return field.wrong("found " + std::to_string(value) + ", expected " + std::to_string(least) + " to " +
                       std::to_string(most));
  return value;
}

Result<double> number_in(const Field& field, double most) {
  const double value = TRY(field.number());
  if (!(value >= 0 && value <= most))
    return field.wrong("found " + std::to_string(value) + ", expected 0 to " + std::to_string(most));
  return value;
}

Result<void> read_buckets(const Field& buckets, analysis::SavedBaseline& baseline) {
  const auto most = static_cast<std::int64_t>(analysis::bucket_count(analysis::Baseline::kShares));
  const std::vector<Field> list = TRY(buckets.list());
  if (list.empty() || list.size() > static_cast<std::size_t>(most))
    return buckets.wrong("found " + std::to_string(list.size()) + ", expected 1 to " + std::to_string(most));
  double sum = 0;
  for (const Field& one : list) {
    const std::int64_t bucket = TRY(integer_in(one["index"], 0, most - 1));
    const double weight = TRY(number_in(one["weight"], 1e9));
    baseline.weights.emplace_back(static_cast<std::size_t>(bucket), weight);
    sum += weight;
  }
  if (sum > kMostCheckpointWeight)
    for (auto& one : baseline.weights) one.second *= kMostCheckpointWeight / sum;
  return {};
}

Result<void> read_suspects(const Field& suspects, analysis::SavedBaseline& baseline) {
  const std::vector<Field> list = TRY(suspects.list(analysis::kMaxQuietSuspects));
  for (const Field& one : list) {
    std::string name = TRY(one["name"].required_text());
    if (!can_be_a_field(name)) return one["name"].wrong("expected a workload's name");
    const double level = TRY(number_in(one["quietMsPerSecond"], 1000 * analysis::Baseline::kShares.largest));
    baseline.quiet.emplace_back(std::move(name), level / 1000);
  }
  return {};
}

double rounded_weight(double weight) { return std::round(weight * 1000) / 1000; }

Result<void> read_level(const Field& field, analysis::SavedBaseline& baseline) {
  TRY(field.check_mapping());
  baseline.windows = static_cast<std::size_t>(TRY(integer_in(field["windows"], 1, kMostCheckpointWindows)));
  TRY(read_buckets(field["buckets"], baseline));
  std::sort(baseline.weights.begin(), baseline.weights.end());
  return {};
}

json::object written_level(const analysis::SavedBaseline& baseline) {
  json::array buckets;
  for (const auto& [bucket, weight] : baseline.weights)
    buckets.push_back({{"index", bucket}, {"weight", rounded_weight(weight)}});
  const auto windows = std::min(static_cast<std::int64_t>(baseline.windows), kMostCheckpointWindows);
  return {{"windows", windows}, {"buckets", std::move(buckets)}};
}

// Returns the bucket of the quiet level: the percentile `quiet_share` of the default rule.
double quiet_bucket(const analysis::SavedBaseline& baseline) {
  double all = 0, below = 0;
  for (const auto& one : baseline.weights) all += one.second;
  for (const auto& [bucket, weight] : baseline.weights) {
    below += weight;
    if (below >= analysis::BaselineRule().quiet_share * all) return static_cast<double>(bucket);
  }
  return 0;
}

// Returns whether two baselines differ materially. Each bucket is 5% larger than the previous one, so four buckets are
// about a fifth.
bool differ(const analysis::SavedBaseline& a, const analysis::SavedBaseline& b) {
  constexpr double kFifth = 4;
  return std::abs(quiet_bucket(a) - quiet_bucket(b)) >= kFifth || a.windows >= 2 * b.windows ||
         b.windows >= 2 * a.windows;
}

std::string owner_in_cluster(const Pod& pod) {
  const auto hash = pod.labels.find("pod-template-hash");
  const analysis::WorkloadOwner owner{pod.owner_kind, pod.owner_name};
  return analysis::owner_in_cluster(owner, hash == pod.labels.end() ? std::string_view() : hash->second).name;
}

}  // namespace

std::string checkpoint_name(std::string_view workload) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const unsigned char c : workload) hash = (hash ^ c) * 1099511628211u;
  char name[20];
  std::snprintf(name, sizeof name, "w-%016llx", static_cast<unsigned long long>(hash));
  return name;
}

Result<BaselineCheckpoint> parse_checkpoint(std::string_view object) {
  const json::value document = TRY(read_json(object, 256u << 10));
  const Field root(document), spec = root["spec"], cpu = spec["cpu"];
  TRY(root.members());
  TRY(check_kind(root, {kCheckpointKind}));
  BaselineCheckpoint checkpoint;
  checkpoint.workload = TRY(spec["workload"].required_text());
  if (!can_be_a_field(checkpoint.workload)) return spec["workload"].wrong("expected a workload's name");
  checkpoint.node = TRY(spec["node"].required_text());
  const std::string updated = TRY(spec["updateTime"].required_text());
  const Result<std::int64_t> ns = parse_timestamp(updated);
  if (!ns) return spec["updateTime"].wrong(ns.error().message());
  checkpoint.updated = *ns / 1'000'000'000;
  checkpoint.cpu.workload = checkpoint.workload;
  TRY(read_level(cpu, checkpoint.cpu));
  TRY(read_suspects(cpu["suspects"], checkpoint.cpu));
  if (const Field memory = spec["memory"]; !memory.empty()) {
    checkpoint.memory.emplace().workload = checkpoint.workload;
    TRY(read_level(memory, *checkpoint.memory));
  }
  return checkpoint;
}

std::string checkpoint_spec(const BaselineCheckpoint& checkpoint) {
  json::array suspects;
  for (const auto& [name, level] : checkpoint.cpu.quiet)
    suspects.push_back({{"name", name}, {"quietMsPerSecond", rounded_weight(1000 * level)}});
  json::object cpu = written_level(checkpoint.cpu);
  cpu["suspects"] = std::move(suspects);
  json::object spec{{"workload", checkpoint.workload},
                    {"node", checkpoint.node},
                    {"updateTime", format_timestamp(checkpoint.updated)},
                    {"cpu", std::move(cpu)}};
  if (checkpoint.memory) spec["memory"] = written_level(*checkpoint.memory);
  return json::serialize(spec);
}

std::string checkpoint_object(const BaselineCheckpoint& checkpoint) {
  return R"({"apiVersion":")" + std::string(kApi) + R"(","kind":")" + std::string(kCheckpointKind) +
         R"(","metadata":{"name":")" + checkpoint_name(checkpoint.workload) + R"("},"spec":)" +
         checkpoint_spec(checkpoint) + "}";
}

bool differs_materially(const BaselineCheckpoint& a, const BaselineCheckpoint& b) {
  if (a.memory.has_value() != b.memory.has_value()) return true;
  return differ(a.cpu, b.cpu) || (a.memory && differ(*a.memory, *b.memory));
}

std::map<std::string, std::string> cluster_workloads(const Snapshot& snapshot) {
  std::map<std::string, std::string> workloads;
  for (const Pod& pod : snapshot.pods) {
    if (pod.owner_name.empty() || pod.namespace_.empty()) continue;
    for (const Container& container : pod.containers)
      workloads[pod.namespace_ + "/" + pod.owner_name + "/" + container.name] =
          pod.namespace_ + "/" + owner_in_cluster(pod) + "/" + container.name;
  }
  return workloads;
}

}  // namespace koord::state
