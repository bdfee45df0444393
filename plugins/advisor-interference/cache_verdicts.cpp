// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cache_verdicts.hpp"

#include <chrono>
#include <set>
#include <utility>

#include "plugins/advisor-interference/left_out.hpp"
#include "plugins/advisor-interference/perf_counters.hpp"

namespace koord::interference {
namespace {

using analysis::CacheAnalysis;
using analysis::VerdictEvent;

constexpr std::string_view kCapability = "verdict.cache";
constexpr const char* kMethod = "suspected: cycles per instruction that rise with the use of another (perf events)";
// The plugin's own windows of one second may end a little early or late.
constexpr Duration kShortestWindow = CacheAnalysis::kWindow - std::chrono::milliseconds(500);
// A longer window does not represent five seconds and is not analysed.
constexpr Duration kLongestWindow = 3 * CacheAnalysis::kWindow;

void report_to(const koord_host* host, std::uint32_t state, const std::string& detail) {
  plugin::require<koord_svc_capabilities>(host, "koord.capabilities/1")
      ->report(host, plugin::str(kCapability), state, plugin::str(detail));
}

}  // namespace

std::unique_ptr<CacheVerdicts> CacheVerdicts::open(const koord_host* host, const NodeRoots& roots,
                                                   const CacheSettings& settings, plugin::Metric interference) {
  if (!settings.is_enabled) {
    report_to(host, KOORD_CAPABILITY_ABSENT, "the setting cache.enabled is false");
    return nullptr;
  }
  Result<std::unique_ptr<PerfCounters>> counters =
      PerfCounters::open(roots, {.descriptors = settings.most_descriptors});
  if (!counters) {
    report_to(host, KOORD_CAPABILITY_ABSENT, counters.error().message());
    return nullptr;
  }
  std::string detail = kMethod;
  if (const std::string why = (*counters)->why_no_llc_misses(); !why.empty())
    detail += "; misses of the last-level cache are not counted: " + why;
  return std::make_unique<CacheVerdicts>(host, std::move(*counters), settings.rules, std::move(detail),
                                         std::move(interference));
}

CacheVerdicts::CacheVerdicts(const koord_host* host, std::unique_ptr<CounterSource> source,
                             const analysis::CacheRules& rules, std::string detail, plugin::Metric interference)
    : host_(host),
      source_(std::move(source)),
      windows_(source_->llc_misses()),
      analysis_(rules),
      detail_(std::move(detail)),
      interference_(std::move(interference)),
      kv_(host),
      posts_(host, CacheAnalysis::kWindow,
             {.resource = KOORD_RESOURCE_CACHE, .statistic = "cycles/instruction", .amounts = "seconds/second"}) {
  report_capability(KOORD_CAPABILITY_SUPPORTED, detail_);
}

void CacheVerdicts::report_capability(std::uint32_t state, const std::string& detail) {
  if (detail == std::exchange(reported_, detail)) return;
  report_to(host_, state, detail);
}

// Reports the state of the counters. While no container runs, it is unknown whether others use the counters, so the
// last state is kept.
void CacheVerdicts::report_state() {
  if (windows_.are_counters_taken())
    report_capability(KOORD_CAPABILITY_BROKEN, "the counters are taken: by another tool, or the NMI watchdog");
  else if (windows_.is_any_counted())
    report_capability(KOORD_CAPABILITY_SUPPORTED, detail_);
}

void CacheVerdicts::restore_once(Time now) {
  if (saved_) return;
  const analysis::ReadCpi read = analysis::read_cpi(kv_.get(kKey).value_or(""));
  saved_ = now;
  analysis_.restore(read.workloads, now);
  for (const std::string& problem : left_out(kv_, kKey, read.problems, read.unread))
    host_->log(host_, KOORD_LOG_WARN, plugin::str("saved baselines: " + problem));
}

// Does nothing before the stored record was restored, because it would be overwritten.
void CacheVerdicts::save(Time now) {
  if (!saved_) return;
  saved_ = now;
  kv_.set(kKey, analysis::write_cpi(analysis_.save()));
}

void CacheVerdicts::stop(Time now) { save(now); }

std::vector<VerdictEvent> CacheVerdicts::collect(Time now, std::vector<KnownContainer> containers) {
  restore_once(now);
  std::erase_if(containers, [](const KnownContainer& container) { return container.is_sandbox; });
  std::set<std::uint64_t> living;
  for (const KnownContainer& container : containers) {
    living.insert(container.handle);
    if (const auto [at, is_new] = series_.try_emplace(container.handle); is_new)
      at->second = interference_.series(
          container.handle, {{"resource", "cache"}, {"kind", analysis::name_of(analysis::Kind::interfered)}});
  }
  std::erase_if(series_, [&](const auto& one) { return !living.contains(one.first); });
  const Duration length = last_ ? now - *last_ : kShortestWindow;
  if (length < kShortestWindow) return {};
  last_ = now;
  const double seconds = std::chrono::duration<double>(length).count();
  Result<std::vector<CounterTotals>> totals = source_->read(containers, seconds);
  if (!totals) report_capability(KOORD_CAPABILITY_BROKEN, totals.error().message());
  // Without counters no window has a finding, so standing verdicts end.
  const auto subjects = windows_.next(containers, totals ? std::move(*totals) : std::vector<CounterTotals>(), seconds);
  if (totals) report_state();
  std::vector<VerdictEvent> events;
  if (length <= kLongestWindow) events = analysis_.add(now, subjects);
  posts_.update(analysis_.standing());
  if (now - *saved_ >= kSaveInterval) save(now);
  return events;
}

void CacheVerdicts::report(plugin::Batch& batch) {
  std::set<std::uint64_t> victims;
  for (const analysis::Verdict& verdict : analysis_.standing()) victims.insert(verdict.victim);
  for (const auto& [handle, series] : series_) batch.add(series, victims.contains(handle) ? 1 : 0);
}

}  // namespace koord::interference
