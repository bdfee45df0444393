// SPDX-License-Identifier: Apache-2.0
// The ticks of an external advisor. Each endpoint that is due is scraped on a thread of its own, so a slow endpoint
// does not occupy a worker. Its answer is mapped and recorded on the strand. Problems with an endpoint become the
// reason of the instance, which keeps running, because the next tick scrapes again. The CPU time of the thread and of
// the recording is charged to the plugin. A plugin with a process of its own waits while it has used up its CPU limit.
#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/thread_cpu.hpp"
#include "core/host/instance.hpp"
#include "core/host/instance_session.hpp"
#include "core/scrape/scrape.hpp"
#include "core/scrape/target_scrape.hpp"

namespace koord::host {
namespace {

constexpr std::ptrdiff_t kMostInFlight = 8;
constexpr Duration kMostTimeout = std::chrono::minutes(1);
constexpr auto kMostAhead = std::chrono::seconds(1);  // CPU time that may be spent ahead of the limit
constexpr auto kMostWait = std::chrono::seconds(5);

std::string of_target(const std::string& name) { return name.empty() ? std::string() : "target '" + name + "': "; }

}  // namespace

// Charges the CPU time of the strand during this object's lifetime to the plugin, without the time of calls.
class Instance::ScrapeCharge {
 public:
  explicit ScrapeCharge(Session& session) : session_(session), meter_(session.meter) {}
  ~ScrapeCharge() {
    const Duration cpu = own_cpu() - before_;
    meter_->charge(cpu);
    session_.unpaid_cpu += cpu;
  }
  ScrapeCharge(const ScrapeCharge&) = delete;
  ScrapeCharge& operator=(const ScrapeCharge&) = delete;

 private:
  Duration own_cpu() const { return thread_cpu() - session_.scrape_calls_cpu; }

  Session& session_;
  const std::shared_ptr<service::ServiceMeter> meter_;
  const Duration before_ = own_cpu();
};

// Makes a call that charges its own CPU time.
template <class F>
service::CallResult Instance::scrape_call(Session& session, const char* name, F&& f) {
  const Duration before = thread_cpu();
  service::CallResult result = call(session, name, std::forward<F>(f));
  session.scrape_calls_cpu += thread_cpu() - before;
  return result;
}

void Instance::prepare_scrapes(Session& session) {
  session.definitions = std::make_unique<scrape::ScrapedDefinitions>(session.context->shared().metrics,
                                                                     parts_.plugin_id, session.context->rights());
  ask_targets(session);
}

void Instance::ask_targets(Session& session) {
  std::vector<scrape::ScrapeTarget> targets;
  service::CallResult result;
  if (info_.has_targets) {
    result = scrape_call(session, "targets", [&] { return session.runner->targets(targets); });
  } else {
    result = scrape_call(session, "url", [&] { return session.runner->url(targets.emplace_back().url); });
    if (!result.ok()) targets.clear();
  }
  if (!is_current(session)) return;
  session.asked =
      result.ok() ? Result<void>() : invalid((info_.has_targets ? "targets(): " : "url(): ") + describe(result));
  if (session.asked || !info_.has_targets) set_targets(session, targets);
}

void Instance::set_targets(Session& session, const std::vector<scrape::ScrapeTarget>& targets) {
  for (const auto& known : session.targets) {
    if (known->gone || std::find(targets.begin(), targets.end(), known->target) != targets.end()) continue;
    known->gone = true;
    known->metrics.forget();
    std::lock_guard lock(mutex_);
    scrapes_.erase(known->target.name);
  }
  std::erase_if(session.targets, [](const auto& known) { return known->gone && !known->in_flight(); });
  for (const scrape::ScrapeTarget& target : targets) {
    const bool is_known = std::any_of(session.targets.begin(), session.targets.end(),
                                      [&](const auto& known) { return !known->gone && known->target == target; });
    if (is_known) continue;
    ByteShare memory(parts_.scrape_memory);
    if (Result<void> held = memory.grow(2 * target.bytes()); !held) {  // the status of the error is kept
      session.asked = std::move(held).error().context(of_target(target.name.substr(0, 200)) + "targets()");
      return;
    }
    const std::size_t most = target.max_series > 0 ? target.max_series : scrape::ScrapedMetrics::kNoLimit;
    session.targets.push_back(std::make_shared<scrape::TargetScrape>(
        scrape::TargetScrape{.target = target,
                             .memory = std::move(memory),
                             .metrics = {session.context->shared().metrics, *session.definitions, parts_.plugin_id,
                                         mapping_of(session, target.name), most, ByteShare(parts_.scrape_memory)}}));
    std::lock_guard lock(mutex_);
    scrapes_[target.name] = {.target = target.name, .url = target.url, .problem = {}, .left_out_because = {}};
  }
}

scrape::ScrapedMetrics::Mapping Instance::mapping_of(Session& session, const std::string& target) {
  scrape::ScrapedMetrics::Mapping mapping;
  if (info_.maps_metrics)
    mapping.metrics = [this, &session, target](std::span<scrape::ScrapedMetric> metrics) {
      return scrape_call(session, "map_metric", [&] { return session.runner->map_metrics(target, metrics); });
    };
  if (info_.maps_series)
    mapping.series = [this, &session, target](std::span<scrape::ScrapedSeries> series) {
      return scrape_call(session, "map_series", [&] { return session.runner->map_series(target, series); });
    };
  if (info_.maps_samples)
    mapping.samples = [this, &session, target](std::span<scrape::ScrapedSample> samples) {
      return scrape_call(session, "map_sample", [&] { return session.runner->map_samples(target, samples); });
    };
  mapping.subject = [&shared = session.context->shared()](std::uint64_t handle) {
    return shared.views.of(shared.hub.current())->subject(handle);
  };
  return mapping;
}

// Forgets all mappings and asks for the targets again, because the plugin's rules may have changed.
void Instance::reset_scrapes(Session& session) {
  for (const auto& known : session.targets) known->metrics.forget();
  ask_targets(session);
}

void Instance::begin_scrapes(Session& session) {
  const ScrapeCharge charge(session);
  if (info_.has_targets || !session.asked) ask_targets(session);  // targets that were unknown before may be known now
  if (!is_current(session)) return;
  if (!session.asked)
    scrape_ended(session, nullptr, session.asked.error(), 0);
  else
    forget_asking();
  const Time now = parts_.clock.now();
  for (const auto& known : session.targets) {
    if (known->gone || !known->is_due(now)) continue;
    if (known->in_flight() || known->waits) {
      std::lock_guard lock(mutex_);
      record_.skipped_tick();
      continue;
    }
    known->waits = true;
    const Duration period = known->target.period;
    known->next = known->next && *known->next + 2 * period > now ? *known->next + period : now + period;
  }
  begin_waiting(session);
}

// Returns whether the scrapes so far are ahead of the plugin's CPU limit. Each scrape is paid off at the rate of the
// limit.
bool Instance::is_ahead(Session& session) {
  std::uint64_t millis;
  {
    std::lock_guard lock(mutex_);
    millis = settings_.runner.cpu_millis;
  }
  if (millis == 0 || !parts_.plugin->expendable()) return false;
  const auto now = std::chrono::steady_clock::now();
  const Duration time = std::exchange(session.unpaid_cpu, Duration()) * 1000 / static_cast<std::int64_t>(millis);
  session.paid_at = std::min(std::max(session.paid_at, now) + time, now + kMostWait);
  return session.paid_at > now + kMostAhead;
}

void Instance::begin_waiting(Session& session) {
  if (std::none_of(session.targets.begin(), session.targets.end(), [](const auto& known) { return known->waits; }))
    return;
  if (is_ahead(session))
    return session.context->note_breach("scrapes",
                                        "its scrapes cost the agent all the CPU time that it may use, and wait");
  auto in_flight = std::count_if(session.targets.begin(), session.targets.end(),
                                 [](const auto& known) { return known->in_flight(); });
  for (const auto& known : session.targets) {
    if (in_flight >= kMostInFlight) return;
    if (!std::exchange(known->waits, false) || known->gone) continue;
    known->began = std::chrono::steady_clock::now();
    try {
      known->fetcher = std::thread([self = shared_from_this(), kept = session.shared_from_this(), known] {
        pthread_setname_np(pthread_self(), "scrape");
        self->fetch(*kept, *known);
      });
      ++in_flight;
    } catch (const std::system_error& error) {
      scrape_ended(session, known.get(), invalid(std::string("no thread for it: ") + error.what()), 0);
    }
  }
}

void Instance::fetch(Session& session, scrape::TargetScrape& known) {
  scrape::ScrapeLimits limits{.stop_fd = session.stop.fd(), .rights = parts_.rights(), .memory = parts_.scrape_memory};
  {
    std::lock_guard lock(mutex_);
    limits.timeout = settings_.deadline;
  }
  if (known.target.timeout > Duration()) limits.timeout = std::min(known.target.timeout, kMostTimeout);
  Result<exposition::Document> document = scrape::scrape(known.target, limits);
  Duration patience;
  {
    std::lock_guard lock(mutex_);
    known.fetched = std::move(document);
    patience = patience_of_tick();
    known.fetch_cpu = thread_cpu();  // the thread began with this scrape
    session.meter->charge(known.fetch_cpu);
  }
  post(session, &Instance::take_scrapes, patience);
}

void Instance::take_scrapes(Session& session) {
  const ScrapeCharge charge(session);
  const auto targets = session.targets;
  for (const auto& known : targets) {
    std::optional<Result<exposition::Document>> fetched;
    {
      std::lock_guard lock(mutex_);
      if (state_ != PluginState::running) return;
      fetched = std::exchange(known->fetched, std::nullopt);
      session.unpaid_cpu += std::exchange(known->fetch_cpu, Duration());
    }
    if (!fetched) continue;
    known->fetcher.join();
    if (known->gone) continue;
    if (!*fetched) {
      scrape_ended(session, known.get(), fetched->error(), 0);
      continue;
    }
    const exposition::Document& document = **fetched;
    Result<scrape::ScrapedMetrics::Outcome> outcome = known->metrics.take(document, parts_.clock.now());
    if (!is_current(session)) return;
    scrape_ended(session, known.get(), outcome, document.bytes());
  }
  std::erase_if(session.targets, [](const auto& known) { return known->gone && !known->in_flight(); });
  begin_waiting(session);
}

void Instance::forget_asking() {
  std::lock_guard lock(mutex_);
  if (info_.has_targets) scrapes_.erase("");
}

// `known`: nullptr if the plugin did not say what to scrape.
void Instance::scrape_ended(Session& session, const scrape::TargetScrape* known,
                            const Result<scrape::ScrapedMetrics::Outcome>& outcome, std::uint64_t bytes) {
  bool struck_out = false, was_fine;
  const bool is_over_memory = !outcome && outcome.error().is(std::errc::not_enough_memory);
  std::string problem;
  Duration deadline;
  const std::string name = known != nullptr ? known->target.name : std::string();
  {
    std::lock_guard lock(mutex_);
    ScrapeStatus& status = scrapes_[name];
    deadline = settings_.deadline;
    was_fine = status.problem.empty();
    ++status.scrapes;
    ++scrape_count_;
    if (known != nullptr) status.duration = std::chrono::steady_clock::now() - known->began;
    if (outcome) {
      status.problem.clear();
      status.bytes = bytes;
      status.taken = outcome->taken;
      status.dropped = outcome->dropped;
      status.left_out = outcome->left_out;
      status.left_out_because = outcome->left_out_because;
      struck_out = record_.ticked(outcome->wall, deadline);  // the duration does not include the time of the endpoint
    } else {
      ++status.failures;
      ++scrape_failures_;
      problem = is_over_memory ? outcome.error().text + " (maxScrapeMemory)" : outcome.error().message();
      status.problem = problem = of_target(name) + "scrape failed: " + problem;
    }
  }
  const std::string line = problem + ", keeping the last values";
  if (is_over_memory) session.context->note_breach("scrape memory", line);
  if (was_fine && !problem.empty() && !is_over_memory) session.context->log(KOORD_LOG_WARN, line);
  if (!was_fine && problem.empty()) session.context->log(KOORD_LOG_INFO, of_target(name) + "scrape works again");
  if (struck_out)
    end(session,
        {PluginState::failed, "missed its deadline of " + format_duration(deadline) + " three times in a row"});
}

}  // namespace koord::host
