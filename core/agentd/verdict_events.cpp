// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdict_events.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parse.hpp"
#include "core/verdict/text.hpp"

namespace koord::agentd {
namespace {

using verdict::Kind;
using verdict::label_of;
using verdict::Record;
using verdict::Suspect;
using verdict::SuspectKind;

constexpr std::size_t kMostNamed = 3;

// Returns the reason of the Event, which is one word.
const char* event_reason(Kind kind) {
  switch (kind) {
    case Kind::interfered:
      return "Interfered";
    case Kind::self_quota:
      return "HeldUpByOwnQuota";
    case Kind::self_threads:
      return "HeldUpByOwnThreads";
    case Kind::self_memory_limit:
      return "HeldUpByOwnMemoryLimit";
    case Kind::shared_parent:
      return "HeldUpBySharedLimit";
    case Kind::unknown:
      break;
  }
  return "HeldUp";
}

std::string name_for(const Suspect& suspect, const std::string& name_space) {
  if (suspect.kind == SuspectKind::kernel) return "kernel threads";
  if (suspect.kind == SuspectKind::outside) return "processes outside of pods";
  if (suspect.kind == SuspectKind::other) return "another cause";  // its name is not shown, because it may be any text
  if (suspect.subject.labels.empty()) return "a pod or container that has ended";
  const std::string_view of_namespace = label_of(suspect.subject.labels, "pod_namespace");
  if (of_namespace.empty()) return "a container outside of pods";
  if (of_namespace != name_space) return "a pod of another namespace";
  const std::string container(label_of(suspect.subject.labels, "container_name"));
  return std::string(label_of(suspect.subject.labels, "pod_name")) + (container.empty() ? "" : "/" + container);
}

std::string suspects_of(const Record& record, const std::string& name_space) {
  std::string text;
  const std::size_t named = std::min(record.suspects.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const Suspect& suspect = record.suspects[i];
    text += (i == 0 ? "; caused by " : ", ") + name_for(suspect, name_space);
    if (std::isfinite(suspect.share)) text += " " + verdict::percent(suspect.share);
  }
  return text + (named < record.suspects.size() ? ", …" : "");
}

std::string origin_of(const Record& record) {
  return record.origin == verdict::Origin::third_party ? "; judged by plugin " + record.plugin : "";
}

}  // namespace

bool VerdictEvents::admit(const Record& record, const std::string& pod_uid, Time now) {
  OfPlugin& reported = reported_[record.plugin];
  if (reported.verdicts.contains(record.id)) return false;
  const std::pair key(pod_uid, record.resource);
  if (const auto last = reported.pods.find(key); last != reported.pods.end() && now - last->second < kBetween)
    return false;
  const auto recent = std::count_if(reported.verdicts.begin(), reported.verdicts.end(),
                                    [&](const auto& entry) { return now - entry.second < kBetween; });
  if (recent >= (record.origin == verdict::Origin::own ? kMostOwn : kMostThirdParty)) return false;
  reported.verdicts[record.id] = reported.pods[key] = now;
  return true;
}

std::vector<kube::EventInput> VerdictEvents::due(const std::vector<verdict::RecordPtr>& standing, Time now) {
  std::vector<kube::EventInput> events;
  const auto is_old = [&](const auto& entry) { return now - entry.second >= kRepeat; };
  for (auto& [plugin, reported] : reported_) {
    std::erase_if(reported.verdicts, is_old);
    std::erase_if(reported.pods, is_old);
  }
  for (const verdict::RecordPtr& record : standing) {
    const std::string uid(label_of(record->victim.labels, "pod_uid"));
    if (record->ended || uid.empty() || now - record->since < kStands) continue;
    if (admit(*record, uid, now)) events.push_back(event_of(*record, now));
  }
  return events;
}

kube::EventInput event_of(const Record& record, Time now) {
  const metric::Labels& victim = record.victim.labels;
  const std::string name_space(label_of(victim, "pod_namespace")), container(label_of(victim, "container_name"));
  const std::string subject = container.empty() ? "the pod" : "container " + container;
  const Duration stood = std::chrono::floor<std::chrono::seconds>(now - record.since);
  return {.about = {"v1", "Pod", name_space, std::string(label_of(victim, "pod_name")),
                    std::string(label_of(victim, "pod_uid"))},
          .warning = record.kind == Kind::interfered || record.kind == Kind::shared_parent,
          .reason = event_reason(record.kind),
          .message = subject + " is held up on " + std::string(name_of(record.resource)) + " for " +
                     format_duration(stood) + ": " + verdict::felt(record.statistic) + suspects_of(record, name_space) +
                     "; " + std::string(name_of(record.method)) + origin_of(record)};
}

}  // namespace koord::agentd
