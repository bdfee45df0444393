// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "core/base/byte_budget.hpp"
#include "core/base/parse.hpp"
#include "core/host/hook_response.hpp"
#include "core/scrape/scrape.hpp"
#include "core/scrape/scraped_metrics.hpp"
#include "core/workshop/hook_questions.hpp"
#include "core/workshop/memory_host.hpp"
#include "core/workshop/player.hpp"
#include "core/workshop/run_node.hpp"

namespace koord::workshop {
namespace {

constexpr Duration kDefaultPeriod = std::chrono::seconds(1);
constexpr Duration kHookDeadline = std::chrono::milliseconds(500);

std::string text_of(koord_str text) { return {text.p != nullptr ? text.p : "", text.n}; }

class Run {
 public:
  Run(std::shared_ptr<const host::LoadedPlugin> plugin, RunNode& node, const RunSettings& settings)
      : plugin_(std::move(plugin)),
        node_(node),
        settings_(settings),
        memory_host_(node.roots(), node.clock(), node.name()) {}

  Result<RunReport> make() {
    TRY(node_.refresh(memory_host_.hub()));
    TRY(cast());
    for (Part& part : parts_) part.running = call(part, "start", [&] { return part.player->start(); }).ok();
    for (Part& part : parts_) ask_targets(part);
    for (tick_ = 1; tick_ <= settings_.ticks; ++tick_) {
      TRY(node_.pass(period_));
      TRY(node_.refresh(memory_host_.hub()));
      for (Part& part : parts_) tick(part);
    }
    for (Part& part : parts_) ask_hook(part);
    collect_series();
    for (Part& part : parts_) part.endpoints.clear();
    for (Part& part : parts_)
      if (part.running) call(part, "end", [&] { return part.player->end(); });
    return std::move(report_);
  }

 private:
  struct Endpoint {
    scrape::ScrapeTarget target;
    std::unique_ptr<scrape::ScrapedMetrics> metrics;
    std::size_t scrape = 0;  // its index in the report
  };
  struct Part {
    std::unique_ptr<Player> player;
    bool running = false;
    std::unique_ptr<scrape::ScrapedDefinitions> definitions;
    std::vector<Endpoint> endpoints;  // endpoints of an external advisor

    const load::ClassInfo& info() const { return player->info(); }
  };

  // Creates one player for each requested class.
  Result<void> cast() {
    period_ = settings_.period.value_or(Duration());
    const std::size_t only = TRY(find_class(*plugin_, settings_.class_name));
    for (std::size_t i = 0; i < plugin_->classes().size(); ++i) {
      if (!settings_.class_name.empty() && i != only) continue;
      Player::Role role{.plugin_id = settings_.plugin_id,
                        .plugin = plugin_,
                        .class_index = i,
                        .config_json = settings_.config_json,
                        .limits = settings_.limits,
                        .rights = settings_.rights};
      parts_.push_back({std::make_unique<Player>(memory_host_, std::move(role))});
      if (period_ == Duration()) period_ = parts_.back().info().period;
    }
    if (period_ == Duration()) period_ = kDefaultPeriod;
    return {};
  }

  service::CallResult call(const Part& part, const char* name, const std::function<service::CallResult()>& make) {
    const Duration at = std::chrono::steady_clock::now() - began_;
    service::CallResult result = make();
    if (result.wall == Duration()) result.wall = std::chrono::steady_clock::now() - began_ - at;
    report_.calls.push_back({part.info().name, name, tick_, at, result});
    return result;
  }

  void tick(Part& part) {
    if (!part.running) return;
    if (part.info().is_scraped_for()) {
      for (Endpoint& endpoint : part.endpoints) scrape(endpoint);
      return;
    }
    if (!part.info().ticks) return;
    const bool strategy = part.info().kind == "koord.qos-strategy/1";
    const Time now = node_.clock().now();
    service::CallResult result =
        call(part, strategy ? "evaluate" : "collect", [&] { return part.player->tick(now, now + period_); });
    if (result.lost) part.running = false;
    if (!strategy || !result.ok()) return;
    for (auto& intent : part.player->context().take_plan())
      report_.intents.push_back({part.info().name, tick_, std::move(intent)});
  }

  void ask_targets(Part& part) {
    if (!part.running || !part.info().is_scraped_for()) return;
    std::vector<scrape::ScrapeTarget> targets;
    const service::CallResult asked =
        part.info().has_targets
            ? call(part, "targets", [&] { return part.player->runner().targets(targets); })
            : call(part, "url", [&] { return part.player->runner().url(targets.emplace_back().url); });
    if (!asked.ok()) return;
    part.definitions =
        std::make_unique<scrape::ScrapedDefinitions>(memory_host_.metrics(), settings_.plugin_id, settings_.rights);
    for (scrape::ScrapeTarget& target : targets) {
      const std::size_t scrape = report_.scrapes.size();
      report_.scrapes.push_back({.cls = part.info().name, .url = target.url, .problem = "there was no tick"});
      auto metrics = std::make_unique<scrape::ScrapedMetrics>(
          memory_host_.metrics(), *part.definitions, settings_.plugin_id, mapping_of(part, target.name),
          scrape::ScrapedMetrics::kNoLimit, ByteShare(scrape_memory_));
      part.endpoints.push_back({std::move(target), std::move(metrics), scrape});
    }
  }

  scrape::ScrapedMetrics::Mapping mapping_of(Part& part, const std::string& target) {
    scrape::ScrapedMetrics::Mapping mapping;
    if (part.info().maps_metrics)
      mapping.metrics = [this, &part, target](std::span<scrape::ScrapedMetric> metrics) {
        return call(part, "map_metric", [&] { return part.player->runner().map_metrics(target, metrics); });
      };
    if (part.info().maps_series)
      mapping.series = [this, &part, target](std::span<scrape::ScrapedSeries> series) {
        return call(part, "map_series", [&] { return part.player->runner().map_series(target, series); });
      };
    if (part.info().maps_samples)
      mapping.samples = [this, &part, target](std::span<scrape::ScrapedSample> samples) {
        return call(part, "map_sample", [&] { return part.player->runner().map_samples(target, samples); });
      };
    mapping.subject = [this](std::uint64_t handle) {
      return memory_host_.services().views.of(memory_host_.hub().current())->subject(handle);
    };
    return mapping;
  }

  void scrape(Endpoint& endpoint) {
    RunScrape& last = report_.scrapes[endpoint.scrape];
    Result<scrape::ScrapedMetrics::Outcome> outcome = take_scrape(endpoint);
    last.samples = outcome ? outcome->taken : 0;
    last.problem = outcome ? "" : outcome.error().message();
    if (!outcome && outcome.error().is(std::errc::not_enough_memory)) last.problem += " (maxScrapeMemory)";
  }

  Result<scrape::ScrapedMetrics::Outcome> take_scrape(Endpoint& endpoint) {
    if (!node_.is_here()) return invalid("not scraped: the node is a recording");
    const exposition::Document document = TRY(
        scrape::scrape(endpoint.target, {.timeout = period_, .rights = settings_.rights, .memory = scrape_memory_}));
    return endpoint.metrics->take(document, node_.clock().now());
  }

  // Calls the hook for each of its stages, for every pod and container of the node.
  void ask_hook(Part& part) {
    if (!part.running || part.info().kind != "koord.runtime-hook/1") return;
    const service::SnapshotViewPtr view = memory_host_.services().views.of(memory_host_.hub().current());
    const std::vector<HookQuestion> questions = hook_questions(part.info().stages, *view);
    const std::size_t before = report_.adjustments.size();
    for (const HookQuestion& question : questions) handle(part, question, *view);
    if (questions.empty())
      report_.notes.push_back(part.info().name +
                              " was asked about nothing: the node has no pod; --pods FILE names some");
    else if (report_.adjustments.size() == before && report_.first_failure() == nullptr)
      report_.notes.push_back(part.info().name + " was asked " + std::to_string(questions.size()) +
                              " times, and set no field");
  }

  // Returns the result, or an error if it is late, because an agent would answer the request without a hook that
  // exceeds its deadline.
  static service::CallResult in_time(service::CallResult result) {
    if (!result.ok() || result.wall <= kHookDeadline) return result;
    result.status = KOORD_E_DEADLINE;
    result.text = "took " + format_duration(result.wall) + ", the deadline is " + format_duration(kHookDeadline) +
                  ": an agent answers the request without it";
    return result;
  }

  void handle(Part& part, const HookQuestion& question, const service::SnapshotView& view) {
    const koord_hook_request request = request_of(question, view, node_.clock().now() + kHookDeadline);
    host::HookResponse response(part.player->context().host());
    if (!call(part, "handle", [&] { return in_time(part.player->runner().handle(request, response.table())); }).ok())
      return;
    const host::HookSettings answer = response.close();
    RunAdjustment made{part.info().name,
                       question.stage_name,
                       text_of(question.pod->ns) + "/" + text_of(question.pod->name),
                       question.container != nullptr ? text_of(question.container->name) : "",
                       "",
                       ""};
    auto keep = [&](const std::string& field, const std::string& value) {
      made.field = field;
      made.value = value;
      report_.adjustments.push_back(made);
    };
    for (const auto& [field, value] : answer.fields) keep(field, value);
    for (const auto& [field, factor] : answer.scales) keep(field, fmt::format("× {}", factor));
    if (answer.rejection) keep("reject", *answer.rejection);
  }

  void collect_series() {
    memory_host_.metrics().for_each_series([&](const metric::SeriesView& view) {
      if (std::isnan(view.value)) return;
      metric::Labels labels = view.subject_labels;
      labels.insert(labels.end(), view.own_labels.begin(), view.own_labels.end());
      report_.series.push_back({view.desc.name, view.desc.unit, std::move(labels), view.value, {}, {}, view.sum});
      if (view.cumulative.empty()) return;
      report_.series.back().bounds = view.desc.bounds;
      report_.series.back().cumulative.assign(view.cumulative.begin(), view.cumulative.end());
    });
    std::sort(report_.series.begin(), report_.series.end(), [](const RunSeries& a, const RunSeries& b) {
      return std::tie(a.metric, a.labels) < std::tie(b.metric, b.labels);
    });
  }

  const std::shared_ptr<const host::LoadedPlugin> plugin_;
  RunNode& node_;
  const RunSettings& settings_;
  const std::shared_ptr<ByteBudget> scrape_memory_ = settings_.scrape_memory > 0
                                                         ? std::make_shared<ByteBudget>(settings_.scrape_memory)
                                                         : nullptr;
  MemoryHost memory_host_;
  std::vector<Part> parts_;  // the players on the host
  Duration period_{};
  std::uint64_t tick_ = 0;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  RunReport report_;
};

}  // namespace

const RunCall* RunReport::first_failure() const {
  auto failed = std::find_if(calls.begin(), calls.end(), [](const RunCall& call) { return !call.result.ok(); });
  return failed != calls.end() ? &*failed : nullptr;
}

Result<RunReport> run(const std::shared_ptr<const host::LoadedPlugin>& plugin, RunNode& node,
                      const RunSettings& settings) {
  return Run(plugin, node, settings).make();
}

}  // namespace koord::workshop
