// SPDX-License-Identifier: Apache-2.0
// An external advisor's ticks: each endpoint that is due is asked on a thread of its own, so that a slow one does not
// occupy a worker; its answer is mapped and recorded on the strand. Problems with an endpoint become the reason of the
// instance, which goes on running: the next tick asks again.
#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/instance.hpp"
#include "core/host/instance_life.hpp"
#include "core/host/scrape.hpp"
#include "core/host/target_scrape.hpp"

namespace koord::host {
namespace {

constexpr std::ptrdiff_t kMostInFlight = 8;
constexpr Duration kMostTimeout = std::chrono::minutes(1);

std::string of_target(const std::string& name) { return name.empty() ? std::string() : "target '" + name + "': "; }

}  // namespace

void Instance::prepare_scrapes(Life& life) {
  life.definitions = std::make_unique<ScrapedDefinitions>(life.context->shared().metrics, parts_.plugin_id, life.context->rights());
  ask_targets(life);
}

void Instance::ask_targets(Life& life) {
  std::vector<ScrapeTarget> targets;
  CallResult result;
  if (info_.has_targets) {
    result = call("targets", [&] { return life.home->targets(targets); });
  } else {
    result = call("url", [&] { return life.home->url(targets.emplace_back().url); });
    if (!result.ok()) targets.clear();
  }
  if (current_life() == nullptr) return;
  life.asked = result.ok() ? Result<void>() : invalid((info_.has_targets ? "targets(): " : "url(): ") + describe(result));
  if (life.asked || !info_.has_targets) set_targets(life, targets);
}

void Instance::set_targets(Life& life, const std::vector<ScrapeTarget>& targets) {
  for (const auto& known : life.targets) {
    if (known->gone || std::find(targets.begin(), targets.end(), known->target) != targets.end()) continue;
    known->gone = true;
    known->metrics.forget();
    std::lock_guard lock(mutex_);
    scrapes_.erase(known->target.name);
  }
  std::erase_if(life.targets, [](const auto& known) { return known->gone && !known->in_flight(); });
  for (const ScrapeTarget& target : targets) {
    const bool is_known = std::any_of(life.targets.begin(), life.targets.end(), [&](const auto& known) { return !known->gone && known->target == target; });
    if (is_known) continue;
    const std::size_t most = target.max_series > 0 ? target.max_series : ScrapedMetrics::kNoLimit;
    life.targets.push_back(std::make_shared<TargetScrape>(
        TargetScrape{.target = target,
                     .metrics = {life.context->shared().metrics, *life.definitions, parts_.plugin_id, mapping_of(life, target.name), most}}));
    std::lock_guard lock(mutex_);
    scrapes_[target.name] = {.target = target.name, .url = target.url, .problem = {}, .left_out_because = {}};
  }
}

ScrapedMetrics::Mapping Instance::mapping_of(Life& life, const std::string& target) {
  ScrapedMetrics::Mapping mapping;
  if (info_.maps_metrics)
    mapping.metrics = [this, &life, target](std::span<ScrapedMetric> metrics) {
      return call("map_metric", [&] { return life.home->map_metrics(target, metrics); });
    };
  if (info_.maps_series)
    mapping.series = [this, &life, target](std::span<ScrapedSeries> series) {
      return call("map_series", [&] { return life.home->map_series(target, series); });
    };
  if (info_.maps_samples)
    mapping.samples = [this, &life, target](std::span<ScrapedSample> samples) {
      return call("map_sample", [&] { return life.home->map_samples(target, samples); });
    };
  mapping.subject = [&shared = life.context->shared()](std::uint64_t handle) {
    return shared.views.of(shared.hub.current())->subject(handle);
  };
  return mapping;
}

// The plugin's rules may be others now.
void Instance::scrape_anew(Life& life) {
  for (const auto& known : life.targets) known->metrics.forget();
  ask_targets(life);
}

void Instance::begin_scrapes(const std::shared_ptr<Life>& life) {
  if (info_.has_targets || !life->asked) ask_targets(*life);  // targets that were unknown before may be known now
  if (current_life() == nullptr) return;
  if (!life->asked)
    scrape_ended(*life, nullptr, life->asked.error(), 0);
  else
    forget_asking();
  const Time now = parts_.clock.now();
  for (const auto& known : life->targets) {
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
  begin_waiting(life);
}

void Instance::begin_waiting(const std::shared_ptr<Life>& life) {
  auto in_flight = std::count_if(life->targets.begin(), life->targets.end(), [](const auto& known) { return known->in_flight(); });
  for (const auto& known : life->targets) {
    if (in_flight >= kMostInFlight) return;
    if (!std::exchange(known->waits, false) || known->gone) continue;
    known->began = std::chrono::steady_clock::now();
    try {
      known->fetcher = std::thread([self = shared_from_this(), life, known] {
        pthread_setname_np(pthread_self(), "scrape");
        self->fetch(*life, *known);
      });
      ++in_flight;
    } catch (const std::system_error& error) {
      scrape_ended(*life, known.get(), invalid(std::string("no thread for it: ") + error.what()), 0);
    }
  }
}

void Instance::fetch(Life& life, TargetScrape& known) {
  ScrapeLimits limits{.stop_fd = life.stop.fd(), .may_read_files = parts_.may_read_files};
  {
    std::lock_guard lock(mutex_);
    limits.timeout = settings_.deadline;
  }
  if (known.target.timeout > Duration()) limits.timeout = std::min(known.target.timeout, kMostTimeout);
  Result<exposition::Document> document = scrape(known.target, limits);
  Duration patience;
  {
    std::lock_guard lock(mutex_);
    known.fetched = std::move(document);
    patience = patience_of_tick();
  }
  post(&Instance::take_scrapes, patience);
}

void Instance::take_scrapes() {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  const auto targets = life->targets;
  for (const auto& known : targets) {
    std::optional<Result<exposition::Document>> fetched;
    {
      std::lock_guard lock(mutex_);
      if (state_ != PluginState::running) return;
      fetched = std::exchange(known->fetched, std::nullopt);
    }
    if (!fetched) continue;
    known->fetcher.join();
    if (known->gone) continue;
    if (!*fetched) {
      scrape_ended(*life, known.get(), fetched->error(), 0);
      continue;
    }
    const exposition::Document& document = **fetched;
    Result<ScrapedMetrics::Outcome> outcome = known->metrics.take(document, parts_.clock.now());
    if (current_life() == nullptr) return;
    scrape_ended(*life, known.get(), outcome, document.bytes());
  }
  std::erase_if(life->targets, [](const auto& known) { return known->gone && !known->in_flight(); });
  begin_waiting(life);
}

void Instance::forget_asking() {
  std::lock_guard lock(mutex_);
  if (info_.has_targets) scrapes_.erase("");
}

// `known`: nullptr when the plugin did not say what to scrape.
void Instance::scrape_ended(Life& life, const TargetScrape* known, const Result<ScrapedMetrics::Outcome>& outcome, std::uint64_t bytes) {
  bool struck_out = false, was_fine;
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
      struck_out = record_.ticked(outcome->wall, deadline);  // the endpoint's time is not the plugin's
    } else {
      ++status.failures;
      ++scrape_failures_;
      status.problem = problem = of_target(name) + "scrape failed: " + outcome.error().message();
    }
  }
  if (was_fine && !problem.empty()) life.context->log(KOORD_LOG_WARN, problem + ", keeping the last values");
  if (!was_fine && problem.empty()) life.context->log(KOORD_LOG_INFO, of_target(name) + "scrape works again");
  if (struck_out)
    end({PluginState::failed, "missed its deadline of " + format_duration(deadline) + " three times in a row"});
}

}  // namespace koord::host
