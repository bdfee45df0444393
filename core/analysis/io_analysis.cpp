// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/io_analysis.hpp"

#include <algorithm>
#include <set>

namespace koord::analysis {

void IoBaseline::Median::add(double value, Time at) {
  ++windows;
  histogram.add(value, at);
}

// Saves only the median, as a value inside its bucket.
SavedMedian IoBaseline::Median::save(Time at) const {
  if (histogram.empty()) return {};
  constexpr double kBelowEnd = 0.98;
  return {kBelowEnd * histogram.percentile(0.5), histogram.state().total / histogram.weight_at(at), windows};
}

void IoBaseline::Median::restore(Time at, const SavedMedian& saved) {
  if (saved.weight < kEmptyBucket) return;
  windows += saved.windows;
  histogram.add(saved.value, at, saved.weight);
}

void IoBaseline::save(Time at, SavedLatency& saved) const {
  saved.mean = mean_.save(at);
  saved.p99 = p99_.save(at);
}

void IoBaseline::restore(Time at, const SavedLatency& saved) {
  mean_.restore(at, saved.mean);
  p99_.restore(at, saved.p99);
}

// Learns from a window only if at least half of its requests met no others. If fewer requests met no others, they came
// in the pauses of a busy neighbour. The p99 cannot be divided, so nearly all requests must have met no others.
void IoBaseline::add(Time at, const IoStream& stream, const IoRule& rule) {
  if (stream.alone_requests < rule.requests_for_mean) return;
  if (stream.alone_requests >= 0.5 * stream.requests) mean_.add(stream.alone_mean, at);
  if (stream.requests >= rule.requests_for_p99 && stream.alone_requests >= 0.95 * stream.requests)
    p99_.add(stream.p99, at);
}

QuietLatency IoBaseline::quiet() const { return {mean_.value(), p99_.value()}; }

QuietLatency IoAnalysis::quiet_of(const std::string& workload, const IoStream& stream) const {
  const auto known = [&](const std::string& name) {
    const auto found = baselines_.find({name, stream.device, stream.is_write});
    return found == baselines_.end() ? QuietLatency{} : found->second.baseline.quiet();
  };
  if (const QuietLatency own = known(workload); own.mean > 0) return own;
  QuietLatency of_device = known("");
  of_device.is_own = false;
  return of_device;
}

void IoAnalysis::learn(Time at, const std::string& workload, const IoStream& stream, const IoRule& of_workload) {
  for (const std::string& name : {workload, std::string()}) {
    Known& known = baselines_.try_emplace(Key{name, stream.device, stream.is_write}, Known{IoBaseline(rules_.io), at})
                       .first->second;
    known.seen = at;
    known.baseline.add(at, stream, name.empty() ? rules_.io : of_workload);
  }
}

std::vector<VerdictEvent> IoAnalysis::set_rules(const Rules& rules) {
  if (rules.io.quiet_windows != rules_.io.quiet_windows || rules.io.quiet_half_life != rules_.io.quiet_half_life)
    baselines_.clear();
  rules_ = rules;
  return verdicts_.restart(rules.confirmation);
}

std::vector<VerdictEvent> IoAnalysis::add(Time at, const std::vector<IoSubject>& subjects) {
  std::vector<VerdictEvent> events;
  std::set<Subject> living;
  for (const IoSubject& subject : subjects) {
    const IoWindow& window = subject.window;
    const Rules& rules = subject.rules ? *subject.rules : rules_;
    living.insert(window.subject);
    std::vector<QuietLatency> quiet;
    for (const IoStream& stream : window.streams) quiet.push_back(quiet_of(subject.workload, stream));
    if (const IoStream* worst = worst_stream(window, quiet, rules.io)) devices_[window.subject] = worst->device;
    if (auto event = verdicts_.add(at, window.subject, judge_io(window, quiet, rules.io), &rules.confirmation))
      events.push_back(*event);
    for (const IoStream& stream : window.streams) learn(at, subject.workload, stream, rules.io);
  }
  verdicts_.keep_only(living);
  std::erase_if(devices_, [&](const auto& one) { return !living.contains(one.first); });
  keep_last_seen(baselines_, at - rules_.baseline.forget_after);
  return events;
}

std::vector<SavedLatency> IoAnalysis::save(Time now) const {
  std::vector<SavedLatency> all;
  for (const auto& [key, known] : baselines_) {
    const auto& [workload, device, is_write] = key;
    SavedLatency saved{
        workload.empty() ? kAllOnDevice : workload, std::min(known.seen, now), device, {}, is_write, {}, {}};
    known.baseline.save(saved.seen, saved);
    if (saved.mean.windows > 0 || saved.p99.windows > 0) all.push_back(std::move(saved));
  }
  return all;
}

void IoAnalysis::restore(const std::vector<SavedLatency>& all, Time now) {
  for (const SavedLatency& saved : all) {
    const Time seen = std::min(saved.seen, now);
    if (now - seen > rules_.baseline.forget_after || baselines_.size() >= kMaxWorkloads) continue;
    const std::string workload = saved.workload == kAllOnDevice ? std::string() : saved.workload;
    Known known{IoBaseline(rules_.io), seen};
    known.baseline.restore(seen, saved);
    baselines_.insert_or_assign(Key{workload, saved.device, saved.is_write}, std::move(known));
  }
}

std::uint32_t IoAnalysis::device_of(Subject subject) const {
  const auto found = devices_.find(subject);
  return found == devices_.end() ? 0 : found->second;
}

}  // namespace koord::analysis
