// SPDX-License-Identifier: Apache-2.0
// An external advisor's ticks: the endpoint is asked on a thread of its own, so that a slow one keeps nobody from the
// workers; what it answered is mapped and recorded on the strand. Whatever is wrong with the endpoint is told as the
// reason of the instance, which goes on running: the next tick asks again.
#include <pthread.h>

#include <system_error>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/instance.hpp"
#include "core/host/instance_life.hpp"
#include "core/host/scrape.hpp"

namespace koord::host {

void Instance::prepare_scrapes(Life& life) {
  ScrapedMetrics::Mapping mapping;
  if (info_.maps_metrics)
    mapping.metrics = [this, &life](std::span<ScrapedMetric> metrics) {
      return call("map_metric", [&] { return life.home->map_metrics(metrics); });
    };
  if (info_.maps_samples)
    mapping.samples = [this, &life](std::span<ScrapedSample> samples) {
      return call("map_sample", [&] { return life.home->map_samples(samples); });
    };
  life.scraped_metrics =
      std::make_unique<ScrapedMetrics>(life.context->shared().metrics, parts_.plugin_id, std::move(mapping));
  ask_url(life);
}

void Instance::ask_url(Life& life) {
  std::string url;
  CallResult result = call("url", [&] { return life.home->url(url); });
  if (current_life() == nullptr) return;
  life.location = result.ok() ? http::parse_location(url) : invalid("url(): " + describe(result));
  life.scraped_metrics->forget();
  std::lock_guard lock(mutex_);
  scrape_.url = std::move(url);
}

void Instance::begin_scrape(const std::shared_ptr<Life>& life, Duration deadline) {
  if (!life->location) ask_url(*life);  // what it could not say before it may say now
  if (current_life() == nullptr) return;
  life->scrape_began = std::chrono::steady_clock::now();
  if (!life->location) return scrape_ended(*life, life->location.error(), 0);
  if (life->fetcher.joinable()) life->fetcher.join();  // of the scrape before, which has been taken
  try {
    life->fetcher = std::thread([self = shared_from_this(), life, location = *life->location, deadline] {
      pthread_setname_np(pthread_self(), "scrape");
      self->fetch(*life, location, deadline);
    });
  } catch (const std::system_error& error) {
    scrape_ended(*life, invalid(std::string("no thread for it: ") + error.what()), 0);
  }
}

void Instance::fetch(Life& life, const http::Location& location, Duration timeout) {
  Result<exposition::Document> document = scrape(location, {.timeout = timeout, .stop_fd = life.stop.fd()});
  Duration patience;
  {
    std::lock_guard lock(mutex_);
    life.fetched = std::move(document);
    patience = patience_of_tick();
  }
  post(&Instance::take_scrape, patience);
}

void Instance::take_scrape() {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  std::optional<Result<exposition::Document>> fetched;
  {
    std::lock_guard lock(mutex_);
    fetched = std::exchange(life->fetched, std::nullopt);
    if (state_ != PluginState::running || !fetched) return;
  }
  if (!*fetched) return scrape_ended(*life, fetched->error(), 0);
  const exposition::Document& document = **fetched;
  Result<ScrapedMetrics::Outcome> outcome = life->scraped_metrics->take(document, parts_.clock.now());
  if (current_life() != nullptr) scrape_ended(*life, outcome, document.bytes());
}

void Instance::scrape_ended(Life& life, const Result<ScrapedMetrics::Outcome>& outcome, std::uint64_t bytes) {
  bool struck_out = false, was_fine;
  std::string problem;
  Duration deadline;
  {
    std::lock_guard lock(mutex_);
    tick_queued_ = false;
    deadline = settings_.deadline;
    was_fine = scrape_.problem.empty();
    ++scrape_.scrapes;
    scrape_.duration = std::chrono::steady_clock::now() - life.scrape_began;
    if (outcome) {
      scrape_.problem.clear();
      scrape_.bytes = bytes;
      scrape_.taken = outcome->taken;
      scrape_.dropped = outcome->dropped;
      scrape_.left_out = outcome->left_out;
      scrape_.left_out_because = outcome->left_out_because;
      struck_out = record_.ticked(outcome->wall, deadline);  // the endpoint's time is not the plugin's
    } else {
      ++scrape_.failures;
      scrape_.problem = problem = "scrape failed: " + outcome.error().message();
    }
  }
  if (was_fine && !problem.empty()) life.context->log(KOORD_LOG_WARN, problem + ", keeping the last values");
  if (!was_fine && problem.empty()) life.context->log(KOORD_LOG_INFO, "scrape works again");
  if (struck_out)
    end({PluginState::failed, "missed its deadline of " + format_duration(deadline) + " three times in a row"});
}

}  // namespace koord::host
