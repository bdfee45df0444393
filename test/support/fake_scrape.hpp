// SPDX-License-Identifier: Apache-2.0
// FakeScrape: an external advisor on a FakeHost with texts instead of a network. The advisor's targets and rules and
// the host's registry are real.
//
//   FakeHost host(node, R"({"targets": [{"name": "a", "url": "http://127.0.0.1/"}]})");
//   FakeScrape advisor(host, koord_entry_v1());
//   REQUIRE(advisor.init() == KOORD_OK);
//   REQUIRE(advisor.take("a", "load1 0.5\n"));
//   CHECK(host.value("load1") == 0.5);
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/host/in_process_runner.hpp"
#include "core/load/config_schema.hpp"
#include "core/scrape/scrape.hpp"
#include "core/scrape/scraped_metrics.hpp"
#include "test/support/fake_host.hpp"

namespace koord::test {

class FakeScrape {
 public:
  // Runs the module's first class, which has targets().
  FakeScrape(FakeHost& host, const koord_module* module) : host_(host), info_{.kind = "koord.external-advisor/1"} {
    runner_ = host::make_in_process_runner(module->classes[0], info_, host.context());
    runner_->create();
  }
  ~FakeScrape() {
    targets_.clear();
    runner_->destroy();
  }
  FakeScrape(const FakeScrape&) = delete;
  FakeScrape& operator=(const FakeScrape&) = delete;

  // Returns whether the plugin's schema accepts this configuration.
  static bool accepts(const koord_module* module, const std::string& json) {
    return load::check_config(module->classes[0].config_schema, json).has_value();
  }

  koord_status init() {
    const service::CallResult result = runner_->init();
    why_ = result.text;
    return result.status;
  }
  const std::string& why() const { return why_; }

  std::vector<scrape::ScrapeTarget> targets() {
    std::vector<scrape::ScrapeTarget> targets;
    why_ = runner_->targets(targets).text;
    return targets;
  }
  koord_status configure(const std::string& json) {
    if (Result<void> set = host_.context().set_config_json(json); !set) return KOORD_E_INVALID;
    targets_.clear();
    return runner_->on_event(KOORD_ON_CONFIG, 1).status;
  }

  // Handles this text as the answer to a scrape of this target.
  Result<scrape::ScrapedMetrics::Outcome> take(const std::string& target, const std::string& text) {
    const exposition::Document document = TRY(exposition::Document::read(text, exposition::Syntax::text));
    return metrics_of(target).take(document, host_.clock().now());
  }
  // Scrapes a target that needs no network, for example a file.
  Result<scrape::ScrapedMetrics::Outcome> scrape(const scrape::ScrapeTarget& target) {
    const exposition::Document document =
        TRY(scrape::scrape(target, {.timeout = std::chrono::seconds(20), .rights = {}}));
    return metrics_of(target.name).take(document, host_.clock().now());
  }

 private:
  scrape::ScrapedMetrics& metrics_of(const std::string& target) {
    auto& metrics = targets_[target];
    if (metrics) return *metrics;
    scrape::ScrapedMetrics::Mapping mapping;
    mapping.metrics = [this, target](std::span<scrape::ScrapedMetric> asked) {
      return runner_->map_metrics(target, asked);
    };
    mapping.series = [this, target](std::span<scrape::ScrapedSeries> asked) {
      return runner_->map_series(target, asked);
    };
    mapping.samples = [this, target](std::span<scrape::ScrapedSample> asked) {
      return runner_->map_samples(target, asked);
    };
    mapping.subject = [this](std::uint64_t handle) {
      return host_.services().views.of(host_.hub().current())->subject(handle);
    };
    metrics = std::make_unique<scrape::ScrapedMetrics>(host_.metrics(), definitions_, host_.context().id(),
                                                       std::move(mapping));
    return *metrics;
  }

  FakeHost& host_;
  load::ClassInfo info_;
  std::unique_ptr<host::Runner> runner_;
  scrape::ScrapedDefinitions definitions_{host_.metrics(), host_.context().id()};
  std::map<std::string, std::unique_ptr<scrape::ScrapedMetrics>> targets_;
  std::string why_;
};

}  // namespace koord::test
